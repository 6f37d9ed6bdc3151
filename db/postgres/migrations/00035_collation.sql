-- +goose Up
-- The ids of conversations and documents get the collation of the columns that refer to
-- them. A join of two collations compares in a third way, which no index supports, so that
-- it read the rows of all owners. The rows stay as they are; the indexes of the two columns
-- are built anew. The release before can use both schemas.
DROP POLICY of_document ON raw_documents;
DROP POLICY of_document ON document_texts;
DROP POLICY of_document ON chunks;

ALTER TABLE conversations ALTER COLUMN id TYPE TEXT COLLATE "default";
ALTER TABLE documents ALTER COLUMN id TYPE TEXT COLLATE "default";

CREATE POLICY of_document ON raw_documents  FOR SELECT USING (EXISTS (SELECT 1 FROM documents d WHERE d.id = doc_id));
CREATE POLICY of_document ON document_texts FOR SELECT USING (EXISTS (SELECT 1 FROM documents d WHERE d.id = doc_id));
CREATE POLICY of_document ON chunks         FOR SELECT USING (EXISTS (SELECT 1 FROM documents d WHERE d.id = doc_id));
