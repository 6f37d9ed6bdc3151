import { CSPProvider } from "@base-ui/react/csp-provider";
import { QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { queries } from "./api/query";
import { App } from "./shell/App";
import "./styles.css";
import { loadLanguage } from "./words";

const page = (
  <StrictMode>
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queries}>
        <App />
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>
);

void loadLanguage(navigator.languages).then(() => createRoot(document.getElementById("root")!).render(page));
