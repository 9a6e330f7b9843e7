// Reads server-sent events from a streamed response.

/** @param {Response["body"]} body @param {(name: string, data: any) => void} take */
export async function readEvents(body, take) {
  if (!body) return;
  let rest = "";
  for await (const part of body.pipeThrough(new TextDecoderStream())) {
    const events = (rest + part).split("\n\n");
    rest = events.pop() ?? "";
    for (const event of events) {
      const [name, data] = event.split("\n");
      take(name.slice("event: ".length), JSON.parse(data.slice("data: ".length)));
    }
  }
}
