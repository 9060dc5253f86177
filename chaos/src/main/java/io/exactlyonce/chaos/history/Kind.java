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
 * The kinds of events, and the details that each requires. An action that takes time has two events: one is recorded
 * before it starts, and one after it ends. Only then does the order of records prove the order of actions, however long
 * a worker is paused between an action and its record.
 */
public enum Kind {

    /**
     * The harness is about to send a message of a key. FIFO messages also have a group and a position. Recorded before
     * {@link #SENT}.
     */
    SENDING(Set.of(Part.KEY), EFFECTS, POLICY, PARTNER),

    /** SQS accepted a message of the key. Only such keys can be lost. */
    SENT(Set.of(Part.KEY)),

    /** A worker received a message of the key from SQS. */
    RECEIVED(Set.of(Part.WORKER, Part.KEY)),

    /** The key is claimed. Recorded after the claim was acquired. Not required if a handler is entered. */
    CLAIMED(Set.of(Part.KEY), TOKEN),

    /**
     * A handler starts; this is the first thing that it does. A call is one run of a handler, unique in the history.
     */
    ENTERED(Set.of(Part.WORKER, Part.KEY, Part.CALL), TOKEN, ATTEMPT, IN_DOUBT),

    /** In observe mode, or for a message without a key, a handler starts. It needs no claim, and has no token. */
    OBSERVED(Set.of(Part.WORKER, Part.KEY, Part.CALL)),

    /** The handler is about to call {@code ensureHeld()}. */
    CHECKING(Set.of(Part.KEY, Part.CALL)),

    /** {@code ensureHeld()} let the handler pass, at some time since {@link #CHECKING}. */
    CHECKED(Set.of(Part.KEY, Part.CALL)),

    /** {@code ensureHeld()} threw. */
    REFUSED(Set.of(Part.KEY, Part.CALL)),

    /** The handler is about to call its partner, or to write its row. */
    ACTING(Set.of(Part.KEY, Part.CALL)),

    /** The partner acted. Its ledger records the event at the moment of the act. */
    EFFECT(Set.of(Part.KEY, Part.CALL)),

    /** The partner recognised the {@code downstreamKey()} and did not act. Its ledger records the event. */
    RECOGNISED(Set.of(Part.KEY, Part.CALL)),

    /** A row that the key's handler wrote, found after the run. Each row has one event, whose call wrote the row. */
    ROW(Set.of(Part.KEY, Part.CALL)),

    /** The handler is about to return normally; this is the last thing that it does. */
    HANDLED(Set.of(Part.KEY, Part.CALL)),

    /** The handler is about to throw; this is the last thing that it does. */
    FAILED(Set.of(Part.KEY, Part.CALL), REASON),

    /**
     * An operator is about to look at the partner of a parked claim, and then to decide. If the decision counts,
     * {@link #COMPLETED} or {@link #RELEASED} of the same decision follows. If it does not count, {@link #OUTDECIDED}
     * follows. If the outcome is unknown, no event follows.
     */
    DECIDING(Set.of(Part.WORKER, Part.KEY), CLAIM, DECISION),

    /** An operator got the reply that another decision came first. */
    OUTDECIDED(Set.of(Part.WORKER, Part.KEY), DECISION),

    /** The key is completed. Recorded after the completion, by a process that read the key's status. */
    COMPLETED(Set.of(Part.KEY)),

    /** A worker is about to request the deletion of a message of the key. The key is completed by then. */
    ACKNOWLEDGING(Set.of(Part.WORKER, Part.KEY)),

    /** SQS confirmed the deletion. */
    ACKNOWLEDGED(Set.of(Part.WORKER, Part.KEY)),

    /** A worker made a message of the key visible at a time of its choice. */
    RETURNED(Set.of(Part.WORKER, Part.KEY)),

    /** The key's claim is released. Recorded after the release. */
    RELEASED(Set.of(Part.KEY)),

    /** The key was found parked. */
    PARKED(Set.of(Part.KEY), REASON),

    /** A message of the key was found in the dead-letter queue. */
    DEAD_LETTERED(Set.of(Part.KEY), REASON),

    /** The status of the key's row after the run. A key without a row has no such event. */
    STATE(Set.of(Part.KEY), STATUS),

    /** A worker's JVM was started. Each JVM has a different name. */
    STARTED(Set.of(Part.WORKER)),

    /** A worker's JVM ended by itself. */
    ENDED(Set.of(Part.WORKER)),

    /**
     * A fault is about to start. With a worker, it hits this worker; without one, it hits all. A pair of worker (or
     * none) and fault has one start and one end at a time.
     */
    FAULT_BEGAN(Set.of(), FAULT),

    /** A fault is over. */
    FAULT_ENDED(Set.of(), FAULT),

    /** The harness makes no more faults. From here, the system must drain by itself. */
    FAULTS_OVER(Set.of()),

    /** The system has drained, or the time limit for draining is over. Everything that is not done by now is stuck. */
    DRAINED(Set.of());

    /** The parts of an event besides its details. */
    enum Part {
        WORKER,
        KEY,
        CALL
    }

    @SuppressWarnings("ImmutableEnumChecker") // The set is unmodifiable.
    private final Set<Part> parts;

    @SuppressWarnings("ImmutableEnumChecker") // The set is unmodifiable.
    private final List<Detail> details;

    Kind(Set<Part> parts, Detail... details) {
        this.parts = parts;
        this.details = List.of(details);
    }

    /** Checks that an event has the parts and details that this kind requires. */
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
