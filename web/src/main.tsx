import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queries } from "./api/query";
import { readSettings } from "./api/useConfig";
import { setImportSources } from "./imports/links";
import { startSession } from "./session/start";
import { Gate } from "./shell/Gate";
import { App } from "./shell/App";
import { placeOf } from "./shell/useRoute";
import "./styles.css";
import { loadLanguage } from "./words";

/** A shared copy is read without signing in. */
const isShared = placeOf(location.pathname)?.page === "s";

const page = (
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queries}>
        {isShared ? <App /> : <Gate />}
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>
);

/** Loads the language, and finds out who is signed in: the page needs both for its first render. */
async function prepare(): Promise<void> {
  if (isShared) return void (await loadLanguage(navigator.languages));
  const [{ signIn, importSources }] = await Promise.all([readSettings(), loadLanguage(navigator.languages)]);
  setImportSources(importSources);
  await startSession(signIn);
}

void prepare().then(() => createRoot(document.getElementById("root")!).render(page));
