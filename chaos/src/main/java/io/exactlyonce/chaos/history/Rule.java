package io.exactlyonce.chaos.history;

/** Judges what happened to one key. It accepts whatever the order of events does not disprove. */
interface Rule {

    void judge(KeyHistory key, Findings findings);
}
