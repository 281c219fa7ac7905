import { App } from "./app";

void new App().start();
