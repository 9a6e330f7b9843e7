-- A synthetic installation, made by the database itself. `$people`, `$conversations` and `$messages`
-- say how large it is; all else follows. The same numbers make the same rows.

SELECT setseed(0.5);
SET synchronous_commit = off;
SET session_replication_role = replica;  -- words are indexed at the end, not row by row

CREATE TEMP TABLE word AS
SELECT n, (ARRAY['ka','lo','mi','ner','tas','vor','bel','dun','fi','gra','hol','jin','pre','qua','ri','sta'])[1 + n % 16]
       || (ARRAY['ra','den','lis','mo','put','sen','ti','vul'])[1 + n / 16 % 8]
       || (ARRAY['','ing','er','s','ation','ly','ment','ed'])[1 + n / 128 % 8]
       || (CASE WHEN n < 1024 THEN '' ELSE (n / 1024)::text END) AS text
FROM generate_series(0, 19999) AS n;
CREATE INDEX ON word (n);
CREATE TEMP TABLE sentence AS
SELECT n, (SELECT string_agg(text, ' ') FROM word JOIN (
    -- as in prose, few words are frequent: half of all are among some fifty
    SELECT (power(20000, random()) - 1)::int AS n FROM generate_series(1, 12 + s.n * 0)
) AS chosen USING (n)) || '.' AS text
FROM generate_series(0, 19999) AS s (n);
CREATE UNIQUE INDEX ON sentence (n);

INSERT INTO auth_user (password, last_login, is_superuser, username, first_name, last_name, email, is_staff, is_active, date_joined)
SELECT '!', now() - random() * interval '60 days', false, 'person-' || n, 'Given' || n % 400, 'Family' || n % 900,
       'person-' || n || '@example.org', n % 200 = 0, n % 50 > 0, now() - random() * interval '3 years'
FROM generate_series(1, $people) AS n;
CREATE TEMP TABLE person AS
SELECT id, row_number() OVER (ORDER BY id)::int AS n, 'user-' || id AS bucket FROM auth_user WHERE username LIKE 'person-%';
CREATE UNIQUE INDEX ON person (n);
INSERT INTO account_emailaddress (email, verified, "primary", user_id)
SELECT username || '@example.org', true, true, id FROM auth_user WHERE username LIKE 'person-%';
INSERT INTO auth_user_groups (user_id, group_id)
SELECT p.id, g.id FROM person AS p JOIN (
    SELECT group_id AS id, row_number() OVER () AS n, count(*) OVER () AS most FROM accounts_team
) AS g ON g.n = 1 + p.n % g.most ON CONFLICT DO NOTHING;
INSERT INTO accounts_apikey (id, prefix, hashed_key, created, name, revoked, is_limited, user_id, last_used_at)
SELECT lpad(to_hex(p.n), 8, '0') || '.x' || p.n, lpad(to_hex(p.n), 8, '0'), 'x', now() - random() * interval '1 year', 'key ' || p.n,
       p.n % 9 = 0, false, p.id, now() - random() * interval '9 days'
FROM person AS p WHERE p.n % 3 = 0;

CREATE TEMP TABLE app AS
SELECT id, slug, row_number() OVER (ORDER BY id)::int AS n, count(*) OVER ()::int AS most FROM catalog_application;
CREATE UNIQUE INDEX ON app (n);

-- The first person owns 5.824 % of all conversations: 11,648 of 200,000.
CREATE TEMP TABLE talk AS
SELECT n, md5('conversation ' || n)::uuid AS id,
       CASE WHEN n <= 0.05824 * $conversations THEN 1 ELSE 1 + ($people * power(random(), 2.5))::int % $people END AS person,
       1 + ((SELECT max(most) FROM app) * power(random(), 3))::int % (SELECT max(most) FROM app) AS app,
       2 * greatest(1, least(400, (-ln(1 - random()) * $messages / $conversations / 2)::int)) AS length,
       now() - interval '5 minutes' - power(random(), 2) * interval '2 years' AS at
FROM generate_series(1, $conversations) AS n;
ALTER TABLE talk ADD first bigint;
UPDATE talk SET first = sums.first FROM (
    SELECT n, sum(length) OVER (ORDER BY n) - length + (SELECT coalesce(max(id), 0) + 1 FROM chat_message) AS first FROM talk
) AS sums WHERE sums.n = talk.n;
INSERT INTO chat_folder (owner, name, position, is_collapsed, created_at)
SELECT p.bucket, 'Folder ' || f, f, f % 2 = 0, now() FROM person AS p, generate_series(1, CASE WHEN p.n = 1 THEN 40 ELSE 2 END) AS f;
INSERT INTO chat_conversation (id, application_id, former_slug, former_title, owner, title, is_unread, has_memory,
    pinned_at, archived_at, deleted_at, arranged_at, folder_id, created_at, updated_at)
SELECT talk.id, app.id, '', '', p.bucket, initcap(left(sentence.text, 60)), talk.n % 500 = 0, true,
       CASE WHEN talk.n % 1500 = 0 THEN talk.at END, CASE WHEN talk.n % 9 = 0 THEN talk.at END,
       CASE WHEN talk.n % 4000 = 1 THEN now() END, CASE WHEN talk.n % 9 = 0 THEN talk.at END,
       CASE WHEN talk.n % 12 = 5 THEN folder.id END, talk.at - interval '10 minutes', talk.at
FROM talk JOIN person AS p ON p.n = talk.person JOIN app ON app.n = talk.app JOIN sentence ON sentence.n = talk.n % 20000
LEFT JOIN LATERAL (SELECT id FROM chat_folder WHERE owner = p.bucket ORDER BY position LIMIT 1) AS folder ON talk.n % 12 = 5;

CREATE TEMP TABLE answer AS
SELECT md5('run ' || talk.n || ' ' || turn)::uuid AS run, talk.id AS conversation, talk.person, talk.app, talk.first + 2 * turn AS question,
       CASE WHEN turn = 0 THEN talk.first ELSE talk.first + 2 * turn - 1 END AS before, turn,
       talk.at - (talk.length / 2 - turn - 1) * interval '2 minutes' AS at, (random() * 20000)::int % 20000 AS said
FROM talk, generate_series(0, talk.length / 2 - 1) AS turn;
INSERT INTO runs_run (id, stream, request, application, application_pk, application_number, bucket, caller, door, status,
    is_stop_requested, holder, attempts, format, beat_at, started_at, finished_at, turn_at)
SELECT a.run, a.conversation, md5('request ' || a.run)::uuid, app.slug, app.id, 1, p.bucket,
       jsonb_build_object('bucket', p.bucket, 'kind', 'user', 'user_id', p.id), 'page',
       CASE WHEN a.question % 60 = 1 THEN 'failed' ELSE 'done' END,
       false, '', 0, 1, a.at, a.at - interval '12 seconds', a.at, a.at
FROM answer AS a JOIN app ON app.n = a.app JOIN person AS p ON p.n = a.person;
INSERT INTO chat_message (id, uuid, conversation_id, run_id, parent_id, role, text, attachments, state, usage, finish_reason, created_at)
OVERRIDING SYSTEM VALUE
SELECT a.question + part, md5('message ' || a.question + part)::uuid, a.conversation, a.run,
       CASE WHEN part = 1 THEN a.question WHEN a.turn > 0 THEN a.before END,
       CASE part WHEN 0 THEN 'user' ELSE 'assistant' END,
       CASE part WHEN 0 THEN first.text ELSE second.text || ' ' || third.text || ' ' || first.text || ' ' || fourth.text END,
       '[]', '{}', CASE part WHEN 0 THEN '{}' ELSE '{"prompt_tokens": 812, "completion_tokens": 96}' END::jsonb,
       CASE part WHEN 0 THEN '' ELSE 'stop' END, a.at - (1 - part) * interval '12 seconds'
FROM answer AS a JOIN sentence AS first ON first.n = a.said JOIN sentence AS second ON second.n = (a.said * 7 + 1) % 20000
JOIN sentence AS third ON third.n = (a.said * 11 + 2) % 20000 JOIN sentence AS fourth ON fourth.n = (a.said * 13 + 3) % 20000,
generate_series(0, 1) AS part;
SELECT setval(pg_get_serial_sequence('chat_message', 'id'), (SELECT max(id) FROM chat_message));
DROP INDEX chat_message_words_stored_words;
INSERT INTO chat_message_words_stored SELECT id, $message_words FROM chat_message ON CONFLICT DO NOTHING;
CREATE INDEX chat_message_words_stored_words ON chat_message_words_stored USING gin (words);

-- What is counted: 90 days of it. Two answers in three of them came over the gateway.
CREATE TEMP TABLE counted AS
SELECT run, conversation, person, app, 'page' AS door, at, (random() * 100)::int AS chance, question AS n FROM answer WHERE at > now() - interval '90 days'
UNION ALL
SELECT md5('gateway run ' || n)::uuid, NULL, 1 + ($people * power(random(), 2.5))::int % $people,
       1 + ((SELECT max(most) FROM app) * power(random(), 3))::int % (SELECT max(most) FROM app),
       (ARRAY['gateway', 'core', 'schedule'])[1 + n % 3], now() - random() * interval '90 days', (random() * 100)::int, n
FROM generate_series(1, $messages / 8) AS n;
INSERT INTO runs_runsummary (id, door, application, bucket, status, started_at, seen_at, seconds, model_calls, tool_calls,
    prompt_tokens, completion_tokens, error_reference, request_id)
SELECT c.run, c.door, app.slug, p.bucket, CASE WHEN c.chance < 3 THEN 'failed' WHEN c.chance = 3 THEN 'stopped' ELSE 'done' END, c.at, c.at,
       c.chance / 7.0, 2, 1, 1600, 190, CASE WHEN c.chance < 3 THEN 'E' || left(c.run::text, 8) ELSE '' END, 'request-' || c.run
FROM counted AS c JOIN app ON app.n = c.app JOIN person AS p ON p.n = c.person;
INSERT INTO insights_modelcall (run, conversation, application, version, door, bucket, bucket_kind, team, iteration, started_at, seconds,
    deployment, provider, model, first_text_seconds, finish_reason, error, input_tokens, cached_tokens, output_tokens, cost, currency)
SELECT c.run, c.conversation, app.slug, 1 + c.chance % 3, c.door, p.bucket, 'user', NULL, turn, c.at + turn * interval '1 second', c.chance / 14.0,
       'model-' || (c.chance * c.chance / 850), 'openai', 'model-' || (c.chance * c.chance / 850), c.chance / 60.0, 'stop',
       CASE WHEN c.chance < 2 THEN 'status 429' ELSE '' END, 400 + c.chance * 9, c.chance * 4, 96, 0.0021, 'USD'
FROM counted AS c JOIN app ON app.n = c.app JOIN person AS p ON p.n = c.person, generate_series(1, 2) AS turn;
INSERT INTO insights_tooluse (run, conversation, application, version, door, bucket, bucket_kind, iteration, started_at, seconds, tool, location, has_failed)
SELECT c.run, c.conversation, app.slug, 1 + c.chance % 3, c.door, p.bucket, 'user', 1, c.at, 0.2, 'tool-' || c.chance % 40, 'server', c.chance = 7
FROM counted AS c JOIN app ON app.n = c.app JOIN person AS p ON p.n = c.person;
INSERT INTO accounts_auditentry (event, at, actor, address, application, conversation, run, subject)
SELECT (ARRAY['message.sent', 'message.received', 'tool.executed'])[event], c.at, p.bucket, '10.0.' || p.n % 250 || '.' || p.n % 199, app.slug,
       c.conversation, c.run, '' FROM counted AS c JOIN app ON app.n = c.app JOIN person AS p ON p.n = c.person, generate_series(1, 3) AS event;

INSERT INTO workspace_storedfile (bucket, name, storage_name, content_type, size, etag, created_at, updated_at)
SELECT p.bucket, 'uploads/' || talk.n || '/report ' || talk.n % 90 || '.pdf', 'synthetic/' || talk.n, 'application/pdf', 4096, md5(talk.n::text), talk.at, talk.at
FROM talk JOIN person AS p ON p.n = talk.person WHERE talk.n % 2 = 0;
INSERT INTO feedback_feedback (message, conversation, run, application_id, application_version, bucket, rating, reason, comment,
    shares_transcript, state, note, created_at, updated_at)
SELECT md5('message ' || a.question + 1)::uuid, a.conversation, a.run, app.id, 1, p.bucket, CASE WHEN a.question % 80 = 1 THEN 'down' ELSE 'up' END,
       CASE WHEN a.question % 80 = 1 THEN 'wrong' ELSE '' END, CASE WHEN a.question % 80 = 1 THEN sentence.text ELSE '' END, false,
       CASE WHEN a.question % 160 = 1 THEN 'new' ELSE 'done' END, '', a.at, a.at
FROM answer AS a JOIN app ON app.n = a.app JOIN person AS p ON p.n = a.person JOIN sentence ON sentence.n = a.said WHERE a.question % 40 = 1;
INSERT INTO notes_note (owner, title, key, text, tags, fields, number, is_by_agent, is_untrusted, created_at, modified_at)
SELECT p.bucket, 'Note ' || talk.n, 'note ' || talk.n, sentence.text || ' [[Note ' || talk.n - 2 || ']]', jsonb_build_array('tag' || talk.n % 30), '{}', 1,
       talk.n % 3 = 0, false, talk.at, talk.at
FROM talk JOIN person AS p ON p.n = talk.person JOIN sentence ON sentence.n = talk.n % 20000 WHERE talk.n % 2 = 1;
INSERT INTO notes_notetag (note_id, key, name) SELECT id, tags ->> 0, tags ->> 0 FROM notes_note;
INSERT INTO notes_notelink (note_id, key) SELECT id, 'note ' || substr(key, 6)::int - 2 FROM notes_note;
INSERT INTO notes_noteversion (note_id, number, title, text, tags, fields, action, is_by_agent, is_untrusted, application, conversation, at)
SELECT id, 1, title, text, tags, fields, 'created', is_by_agent, false, '', '', modified_at FROM notes_note;
INSERT INTO notes_note_words_stored SELECT id, $note_words FROM notes_note ON CONFLICT DO NOTHING;
INSERT INTO schedules_schedule (id, owner, caller, made_by, name, message, is_alarm, is_heartbeat, is_same_conversation, kind, start_at,
    expression, time_zone, is_deleted_after, missed, missed_most, unanswered, unanswered_minutes, budget_currency, is_paused, pause_reason,
    next_at, last_at, run_count, last_problem, created_at, updated_at, application_id, user_id)
SELECT md5('schedule ' || p.n)::uuid, p.bucket, '{}', 'person', 'Every morning', 'What is new?', false, false, false, 'cron', now(),
       '0 8 * * *', 'Europe/Berlin', false, 'once', 3, 'wait', 60, '', false, '', now() + interval '1 day', now(), 40, '', now(), now(), app.id, p.id
FROM person AS p JOIN app ON app.n = 1 + p.n % app.most;
INSERT INTO catalog_savedprompt (name, title, text, changed_at, user_id)
SELECT 'prompt-' || f, 'Prompt ' || f, 'Summarize this.', now(), p.id FROM person AS p, generate_series(1, 3) AS f;
INSERT INTO chat_share (token, owner, title, turns, files, with_steps, with_files, audience, created_at, conversation_id, user_id)
SELECT md5('share ' || talk.n), p.bucket, 'Shared', '[]', '[]', false, false, 'people', talk.at, talk.id, p.id
FROM talk JOIN person AS p ON p.n = talk.person WHERE talk.n % 50 = 3;
INSERT INTO tasks_taskfailure (at, task, job, attempt, is_final, error)
SELECT now() - random() * interval '30 days', 'triggers.send', n::text, 1, n % 7 = 0, 'timeout' FROM generate_series(1, $people) AS n;
INSERT INTO catalog_change (kind, object_id, title, version, what, actor, via, through, reason, at, before, after, count, places)
SELECT 'catalog.application', app.id, app.slug, 1, 'changed', 'admin', 'admin', '', '', now() - random() * interval '2 years', '{}', '{}', 1, '[]'
FROM app, generate_series(1, 50) AS n;

SET session_replication_role = DEFAULT;
ANALYZE;
