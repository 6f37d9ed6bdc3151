import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { queries } from "./api/query";
import { readSettings } from "./api/useConfig";
import { setImportSources } from "./imports/links";
import { currentSession } from "./session/account";
import { startSession } from "./session/start";
import { beginInSpace } from "./spaces/choice";
import { Gate } from "./shell/Gate";
import { App, prepareConversation } from "./shell/App";
import { pendingOf } from "./shell/pending";
import { placeOf } from "./shell/useRoute";
import "./styles.css";
import { readAhead } from "./thread/api";
import { loadLanguage } from "./words";

const place = placeOf(location.pathname);

/** A shared copy is read without signing in. */
const isShared = place?.page === "s";

const around = (page: ReactNode) => (
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queries}>{page}</QueryClientProvider>
    </CSPProvider>
  </StrictMode>
);

/** The chat in a frame of another page. */
async function prepareFrame(): Promise<ReactNode> {
  const [{ start }, { lookOf }, { Framed }] = await Promise.all([import("./embed/start"), import("./embed/look"), import("./embed/Framed")]);
  return <Framed {...await start(lookOf(location.search))} />;
}

/** Loads the language, and finds out who is signed in: the page needs both for its first render. */
async function prepare(): Promise<ReactNode> {
  if (location.pathname === "/embed") return prepareFrame();
  if (isShared) {
    await loadLanguage(navigator.languages);
    return <App />;
  }
  if (place?.page === "chat" && (place.id || place.name)) prepareConversation();
  const [{ signIn, importSources }] = await Promise.all([readSettings(), loadLanguage(navigator.languages)]);
  setImportSources(importSources);
  await startSession(signIn);
  if (!signIn || currentSession().account) {
    beginInSpace();
    if (place?.page === "chat" && place.id && !pendingOf(place.id)) readAhead(place.id);
  }
  return <Gate />;
}

void prepare().then((page) => createRoot(document.getElementById("root")!).render(around(page)));
