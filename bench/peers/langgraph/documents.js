// Documents and their passages in Postgres, with its full-text search.

const schema = `
  CREATE TABLE IF NOT EXISTS documents (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), title text NOT NULL);
  CREATE TABLE IF NOT EXISTS chunks (
    doc_id uuid NOT NULL REFERENCES documents ON DELETE CASCADE,
    ordinal int NOT NULL, start_char int NOT NULL, end_char int NOT NULL, heading text NOT NULL, body text NOT NULL,
    search tsvector GENERATED ALWAYS AS (to_tsvector('english', heading || ' ' || body)) STORED,
    PRIMARY KEY (doc_id, ordinal));
  CREATE INDEX IF NOT EXISTS chunks_search ON chunks USING gin (search);`;

// Any word of the question may match. Named statements are prepared once per
// connection.
const searchPassages = {
  name: "search-passages",
  text: `WITH asked AS (SELECT replace(plainto_tsquery('english', $1)::text, '&', '|')::tsquery AS query)
    SELECT c.doc_id, c.ordinal, c.start_char AS start, c.end_char AS end, c.body, d.title
    FROM chunks c JOIN documents d ON d.id = c.doc_id, asked
    WHERE c.doc_id = ANY($2::uuid[]) AND c.search @@ asked.query
    ORDER BY ts_rank_cd(c.search, asked.query) DESC, c.ordinal LIMIT $3`,
};

const maxPassages = 20;

export async function openDocuments(pool) {
  await pool.query(schema);
  return {
    async add({ title, chunks }) {
      const client = await pool.connect();
      try {
        await client.query("BEGIN");
        const { rows } = await client.query("INSERT INTO documents (title) VALUES ($1) RETURNING id", [title]);
        const id = rows[0].id;
        await client.query(
          `INSERT INTO chunks (doc_id, ordinal, start_char, end_char, heading, body)
           SELECT $1, * FROM jsonb_to_recordset($2::jsonb) AS c(ordinal int, start int, "end" int, heading text, text text)`,
          [id, JSON.stringify(chunks)],
        );
        await client.query("COMMIT");
        return id;
      } catch (error) {
        await client.query("ROLLBACK");
        throw error;
      } finally {
        client.release();
      }
    },

    async titles(ids) {
      const { rows } = await pool.query({ name: "titles", text: "SELECT id, title FROM documents WHERE id = ANY($1::uuid[])", values: [ids] });
      return rows;
    },

    async search(question, ids) {
      const { rows } = await pool.query({ ...searchPassages, values: [question, ids, maxPassages] });
      return rows;
    },
  };
}
