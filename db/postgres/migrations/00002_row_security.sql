-- +goose Up
-- Supabase lets a browser read tables as a role of its own, with the caller's
-- token in request.jwt.claims. Such a role sees its own and public rows and
-- changes none: there are policies for reading only. Palaver's role owns the
-- tables and is not bound by them.

-- +goose StatementBegin
CREATE FUNCTION palaver_subject() RETURNS TEXT LANGUAGE SQL STABLE SET search_path = '' AS $$
    SELECT nullif(current_setting('request.jwt.claims', true), '')::jsonb ->> 'sub'
$$;
-- +goose StatementEnd

ALTER TABLE goose_db_version      ENABLE ROW LEVEL SECURITY;
ALTER TABLE deleted_conversations ENABLE ROW LEVEL SECURITY;
ALTER TABLE profiles              ENABLE ROW LEVEL SECURITY;
ALTER TABLE conversations         ENABLE ROW LEVEL SECURITY;
ALTER TABLE turns                 ENABLE ROW LEVEL SECURITY;
ALTER TABLE stream_runs           ENABLE ROW LEVEL SECURITY;
ALTER TABLE cancels               ENABLE ROW LEVEL SECURITY;
ALTER TABLE messages              ENABLE ROW LEVEL SECURITY;
ALTER TABLE turn_events           ENABLE ROW LEVEL SECURITY;
ALTER TABLE turn_texts            ENABLE ROW LEVEL SECURITY;
ALTER TABLE drafts                ENABLE ROW LEVEL SECURITY;
ALTER TABLE documents             ENABLE ROW LEVEL SECURITY;
ALTER TABLE raw_documents         ENABLE ROW LEVEL SECURITY;
ALTER TABLE document_texts        ENABLE ROW LEVEL SECURITY;
ALTER TABLE chunks                ENABLE ROW LEVEL SECURITY;
ALTER TABLE chunk_vectors         ENABLE ROW LEVEL SECURITY;
ALTER TABLE document_sets         ENABLE ROW LEVEL SECURITY;
ALTER TABLE set_documents         ENABLE ROW LEVEL SECURITY;

-- The subject in a query of its own is asked for once, not once a row.
CREATE POLICY own ON profiles      FOR SELECT USING (owner = (SELECT palaver_subject()));
CREATE POLICY own ON conversations FOR SELECT USING (owner = (SELECT palaver_subject()));
CREATE POLICY own ON turns         FOR SELECT USING (owner = (SELECT palaver_subject()));
CREATE POLICY own ON stream_runs   FOR SELECT USING (owner = (SELECT palaver_subject()));
CREATE POLICY own ON cancels       FOR SELECT USING (owner = (SELECT palaver_subject()));
CREATE POLICY own ON document_sets FOR SELECT USING (owner = (SELECT palaver_subject()));
CREATE POLICY own_or_public ON documents FOR SELECT USING (owner IN ((SELECT palaver_subject()), '*'));

-- What belongs to a row is seen with it.
CREATE POLICY of_turn ON messages    FOR SELECT USING (EXISTS (SELECT 1 FROM turns t WHERE t.id = turn_id));
CREATE POLICY of_turn ON turn_events FOR SELECT USING (EXISTS (SELECT 1 FROM turns t WHERE t.id = turn_id));
CREATE POLICY of_turn ON turn_texts  FOR SELECT USING (EXISTS (SELECT 1 FROM turns t WHERE t.id = turn_id));
CREATE POLICY of_turn ON drafts      FOR SELECT USING (EXISTS (SELECT 1 FROM turns t WHERE t.id = turn_id));
CREATE POLICY of_document ON raw_documents  FOR SELECT USING (EXISTS (SELECT 1 FROM documents d WHERE d.id = doc_id));
CREATE POLICY of_document ON document_texts FOR SELECT USING (EXISTS (SELECT 1 FROM documents d WHERE d.id = doc_id));
CREATE POLICY of_document ON chunks         FOR SELECT USING (EXISTS (SELECT 1 FROM documents d WHERE d.id = doc_id));
CREATE POLICY of_chunk ON chunk_vectors FOR SELECT USING (EXISTS (SELECT 1 FROM chunks c WHERE c.id = chunk_vectors.id));
CREATE POLICY of_set ON set_documents   FOR SELECT USING (EXISTS (SELECT 1 FROM document_sets s WHERE s.id = set_id));
