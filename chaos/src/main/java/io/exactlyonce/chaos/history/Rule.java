package io.exactlyonce.chaos.history;

/** Judges the history of one key. A rule accepts everything that the order of events does not disprove. */
interface Rule {

    void judge(KeyHistory key, Findings findings);
}
