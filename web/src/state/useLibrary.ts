import { useCallback, useEffect, useState } from "react";
import * as client from "../api/client";
import { ApiError } from "../api/http";
import type { Doc, DocSet } from "../api/types";
import { bytes } from "../lib/format";

const POLL_MS = 1_000;
const wordsOf = (err: unknown): string => (err instanceof ApiError ? err.message : "Something went wrong. Please try again.");

/** The documents and sets that can be asked about; polls while one is processing. */
export function useLibrary(maxUpload: number) {
  const [docs, setDocs] = useState<Doc[]>([]);
  const [sets, setSets] = useState<DocSet[]>([]);
  const [loaded, setLoaded] = useState(false);
  const [uploading, setUploading] = useState<string[]>([]);
  const [problems, setProblems] = useState<string[]>([]);

  const refresh = useCallback(async () => {
    try {
      setDocs(await client.documents());
      setLoaded(true);
    } catch (err) {
      setProblems([wordsOf(err)]);
    }
  }, []);

  useEffect(() => {
    void refresh();
    client.documentSets().then(setSets, () => setSets([]));
  }, [refresh]);

  const busy = docs.some((d) => d.status === "processing");
  useEffect(() => {
    if (!busy) return;
    const timer = setInterval(() => void refresh(), POLL_MS);
    return () => clearInterval(timer);
  }, [busy, refresh]);

  const upload = useCallback(
    async (files: File[]) => {
      setProblems([]);
      setUploading((names) => [...names, ...files.map((f) => f.name)]);
      for (const file of files) {
        try {
          if (file.size > maxUpload) throw new ApiError(413, "too_large", `this file has ${bytes(file.size)}; the limit is ${maxUpload >> 20} MB.`);
          await client.upload(file);
          await refresh();
        } catch (err) {
          setProblems((all) => [...all, `${file.name}: ${wordsOf(err)}`]);
        }
        setUploading((names) => without(names, file.name));
      }
    },
    [maxUpload, refresh],
  );

  const remove = useCallback(
    async (doc: Doc) => {
      try {
        await client.deleteDocument(doc.id);
      } catch (err) {
        if (!(err instanceof ApiError && err.status === 404)) setProblems([`${doc.title}: ${wordsOf(err)}`]);
      }
      await refresh();
    },
    [refresh],
  );

  return { docs, sets, loaded, uploading, problems, upload, remove, clearProblems: useCallback(() => setProblems([]), []) };
}

export type Library = ReturnType<typeof useLibrary>;

function without(names: string[], name: string): string[] {
  const at = names.indexOf(name);
  return at < 0 ? names : names.toSpliced(at, 1);
}
