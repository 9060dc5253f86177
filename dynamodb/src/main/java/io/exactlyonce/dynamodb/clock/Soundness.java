package io.exactlyonce.dynamodb.clock;

/** Whether the measured time can decide that a lease is over. */
public enum Soundness {
    /** It can. */
    SOUND("measured"),
    /** No answer has had a {@code Date} yet: a proxy may strip it. */
    UNMEASURED("no answer has had a Date header"),
    /** The last answer with a {@code Date} is too old. */
    STALE("no answer with a Date header for a minute"),
    /** The bounds are further apart than {@code clock-error}. */
    IMPRECISE("the answers' Date headers leave more doubt than clock-error allows"),
    /** Answers contradicted each other repeatedly: front ends disagree, or this machine is suspended now and then. */
    CONTRADICTORY("the answers' Date headers contradict each other");

    private final String reason;

    Soundness(String reason) {
        this.reason = reason;
    }

    /** Returns why, for people. */
    public String reason() {
        return reason;
    }
}
