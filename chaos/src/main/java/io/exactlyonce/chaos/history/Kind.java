package io.exactlyonce.chaos.history;

import static io.exactlyonce.chaos.history.Detail.ATTEMPT;
import static io.exactlyonce.chaos.history.Detail.CLAIM;
import static io.exactlyonce.chaos.history.Detail.DECISION;
import static io.exactlyonce.chaos.history.Detail.EFFECTS;
import static io.exactlyonce.chaos.history.Detail.FAULT;
import static io.exactlyonce.chaos.history.Detail.IN_DOUBT;
import static io.exactlyonce.chaos.history.Detail.PARTNER;
import static io.exactlyonce.chaos.history.Detail.POLICY;
import static io.exactlyonce.chaos.history.Detail.REASON;
import static io.exactlyonce.chaos.history.Detail.STATUS;
import static io.exactlyonce.chaos.history.Detail.TOKEN;

import java.util.List;
import java.util.Set;

/**
 * What an event says, and which details it needs. Whatever takes time has two events: one recorded before it begins,
 * and one after it ended. Only so an order of records proves an order of what happened, however long a worker is paused
 * between doing a thing and recording it.
 */
public enum Kind {

    /**
     * The harness is about to send a message of a key; a group and a position besides for FIFO. Before {@link #SENT}.
     */
    SENDING(Set.of(Part.KEY), EFFECTS, POLICY, PARTNER),

    /** SQS has taken a message of the key. Only such keys can be lost. */
    SENT(Set.of(Part.KEY)),

    /** A worker was given a message of the key by SQS. */
    RECEIVED(Set.of(Part.WORKER, Part.KEY)),

    /** A claim of the key was seen to be held: after it was acquired. Not needed where a handler is entered. */
    CLAIMED(Set.of(Part.KEY), TOKEN),

    /** A handler begins; the first thing that it does. A call is one run of a handler, unique in the history. */
    ENTERED(Set.of(Part.WORKER, Part.KEY, Part.CALL), TOKEN, ATTEMPT, IN_DOUBT),

    /** A handler begins in observe mode, or for a message without a key: no claim lets it begin, and it has no token. */
    OBSERVED(Set.of(Part.WORKER, Part.KEY, Part.CALL)),

    /** The handler is about to call {@code ensureHeld()}. */
    CHECKING(Set.of(Part.KEY, Part.CALL)),

    /** {@code ensureHeld()} let the handler pass, some time since its {@link #CHECKING}. */
    CHECKED(Set.of(Part.KEY, Part.CALL)),

    /** {@code ensureHeld()} threw. */
    REFUSED(Set.of(Part.KEY, Part.CALL)),

    /** The handler is about to call its partner, or to write its row. */
    ACTING(Set.of(Part.KEY, Part.CALL)),

    /** The partner acted: recorded by its ledger, in the moment that it acts. */
    EFFECT(Set.of(Part.KEY, Part.CALL)),

    /** The partner recognised the {@code downstreamKey()} and did not act: recorded by its ledger. */
    RECOGNISED(Set.of(Part.KEY, Part.CALL)),

    /** After the run: a row that the key's handler wrote, one event for each row; the call is the one that wrote it. */
    ROW(Set.of(Part.KEY, Part.CALL)),

    /** The handler is about to return normally; the last thing that it does. */
    HANDLED(Set.of(Part.KEY, Part.CALL)),

    /** The handler is about to throw; the last thing that it does. */
    FAILED(Set.of(Part.KEY, Part.CALL), REASON),

    /**
     * An operator is about to look at the partner of a parked claim, and then to decide. {@link #COMPLETED} or {@link #RELEASED} of the
     * same decision follows if it counted, {@link #OUTDECIDED} if it did not, and nothing if that is unknown.
     */
    DECIDING(Set.of(Part.WORKER, Part.KEY), CLAIM, DECISION),

    /** An operator was told that another decision had come first. */
    OUTDECIDED(Set.of(Part.WORKER, Part.KEY), DECISION),

    /** The key was seen to be completed: after it was. */
    COMPLETED(Set.of(Part.KEY)),

    /** A worker is about to ask SQS to delete a message of the key: the key is completed by then. */
    ACKNOWLEDGING(Set.of(Part.WORKER, Part.KEY)),

    /** SQS has confirmed the delete. */
    ACKNOWLEDGED(Set.of(Part.WORKER, Part.KEY)),

    /** A worker made a message of the key visible again at a time that it chose. */
    RETURNED(Set.of(Part.WORKER, Part.KEY)),

    /** The key's claim was seen to be released. */
    RELEASED(Set.of(Part.KEY)),

    /** The key was found parked. */
    PARKED(Set.of(Part.KEY), REASON),

    /** A message of the key was found in the dead-letter queue. */
    DEAD_LETTERED(Set.of(Part.KEY), REASON),

    /** After the run: the status of the key's row. A key without a row has no such event. */
    STATE(Set.of(Part.KEY), STATUS),

    /** A worker's JVM was started. Each JVM has another name. */
    STARTED(Set.of(Part.WORKER)),

    /** A worker's JVM ended by itself. */
    ENDED(Set.of(Part.WORKER)),

    /**
     * A fault is about to begin. With a worker it hits that one, without it hits all. The pair of a worker (or none)
     * and a fault has one begin and one end at a time.
     */
    FAULT_BEGAN(Set.of(), FAULT),

    /** A fault is over. */
    FAULT_ENDED(Set.of(), FAULT),

    /** The harness makes no more faults: the system must drain by itself from here. */
    FAULTS_OVER(Set.of()),

    /** The system has drained, or the time in which it must is over: what is not done by now is stuck. */
    DRAINED(Set.of());

    /** What an event has beside details. */
    enum Part {
        WORKER,
        KEY,
        CALL
    }

    @SuppressWarnings("ImmutableEnumChecker") // Unmodifiable.
    private final Set<Part> parts;

    @SuppressWarnings("ImmutableEnumChecker") // Unmodifiable.
    private final List<Detail> details;

    Kind(Set<Part> parts, Detail... details) {
        this.parts = parts;
        this.details = List.of(details);
    }

    /** Checks that an event has the details that this kind needs. */
    void check(Event event) {
        require(Part.WORKER, event.worker(), event);
        require(Part.KEY, event.key(), event);
        require(Part.CALL, event.call(), event);
        for (Detail detail : details) {
            if (event.details().getOrDefault(detail, "").isBlank()) {
                throw new IllegalArgumentException("%s must tell its %s: %s".formatted(this, detail, event));
            }
        }
    }

    private void require(Part part, String value, Event event) {
        if (parts.contains(part) && value.isBlank()) {
            throw new IllegalArgumentException("%s must name its %s: %s".formatted(this, part, event));
        }
    }
}
