package io.exactlyonce.chaos.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The findings of rules in a history. Not thread-safe. */
final class Findings {

    private final History history;
    private final Terms terms;
    private final List<Violation> violations = new ArrayList<>();
    private final List<ExplainedAnomaly> explained = new ArrayList<>();
    private long duplicates;
    private long lost;
    private long stuck;

    Findings(History history, Terms terms) {
        this.history = history;
        this.terms = terms;
    }

    void violated(Invariant invariant, String key, String what, Event... events) {
        violated(invariant, key, what, List.of(events));
    }

    void violated(Invariant invariant, String key, String what, List<Event> events) {
        violations.add(new Violation(invariant, key, what, sorted(events.stream())));
    }

    void duplicated(Invariant invariant, String key, long times, String what, List<Event> events) {
        duplicates += times;
        violated(invariant, key, what, events);
    }

    void lost(String key, String what, List<Event> events) {
        lost++;
        violated(Invariant.NOTHING_LOST, key, what, events);
    }

    void lostFollowUp(String key, Event done) {
        lost++;
        violated(Invariant.FOLLOW_UP_ONCE, key, "its follow-up message was never sent", done);
    }

    void stuck(String key, String what, List<Event> events) {
        stuck++;
        violated(Invariant.NOTHING_STUCK, key, what, events);
    }

    /**
     * Returns whether a failover may have undone the commit of a call's claim. The claim may have been committed long
     * before its handler recorded an event.
     */
    boolean forgotten(KeyHistory key, Call claimed, Event later) {
        return forgotten(key.key(), key.claimingFrom(claimed), claimed.entered(), later);
    }

    /**
     * Returns whether a failover may have undone a commit at an unknown time between two events, before a later event.
     * If so, lists the events as explained.
     */
    boolean forgotten(String key, Event from, Event to, Event later) {
        Optional<FaultSpan> failover =
                history.faults().forgetting(from, to, later, terms.exposure().toNanos() / 1_000);
        failover.ifPresent(span -> explained.add(new ExplainedAnomaly(
                ExplainedAnomaly.Cause.FORGOTTEN_BY_FAILOVER, key, sorted(Stream.of(span.begin(), from, to, later)))));
        return failover.isPresent();
    }

    /** Returns whether a failover may have undone a commit between two events, from the view after the run. */
    boolean forgottenInTheEnd(String key, Event from, Event to) {
        return forgotten(key, from, to, history.last());
    }

    /**
     * Returns whether a fault may have cost a worker its claim, at some time between two events. If so, lists the
     * events as explained.
     */
    boolean inDoubt(String key, String worker, Event from, Event to) {
        return explained(ExplainedAnomaly.Cause.REPEATED_IN_DOUBT, key, worker, from, to);
    }

    private boolean explained(ExplainedAnomaly.Cause cause, String key, String worker, Event from, Event to) {
        Optional<FaultSpan> fault = history.faults()
                .costingClaims(worker, from, to, terms.recovery().toNanos() / 1_000);
        fault.ifPresent(span ->
                explained.add(new ExplainedAnomaly(cause, key, sorted(Stream.of(span.begin(), from, to)))));
        return fault.isPresent();
    }

    /**
     * Returns whether a fault may have lost the reply to a worker's release of a key, so that the client repeated the
     * release too late. If so, lists the events as explained.
     */
    boolean toldAsLost(String key, Event release, Event refused) {
        return terms.repeatsWrites()
                && explained(ExplainedAnomaly.Cause.RELEASE_TOLD_AS_LOST, key, release.worker(), release, refused);
    }

    /**
     * Returns whether a fault may have kept a worker from recording an outcome, or may have undone the record since.
     * The event {@code known} shows that the worker knew the outcome.
     */
    boolean mayBeUnrecorded(String worker, Event begin, Event known) {
        long recoveryMicros = terms.recovery().toNanos() / 1_000;
        Event recorded = history.lastUntil(known.micros() + recoveryMicros);
        return history.faults()
                        .costingClaims(worker, begin, recorded, recoveryMicros)
                        .isPresent()
                || history.faults()
                        .forgetting(
                                begin,
                                recorded,
                                history.last(),
                                terms.exposure().toNanos() / 1_000)
                        .isPresent();
    }

    private static List<Event> sorted(Stream<Event> events) {
        return events.distinct().sorted(Comparator.comparingLong(Event::order)).toList();
    }

    Verdict verdict() {
        return new Verdict(Counts.of(history), duplicates, lost, stuck, violations, explained, deadLetters());
    }

    private Map<String, Long> deadLetters() {
        return history.events().stream()
                .filter(event -> event.kind() == Kind.DEAD_LETTERED)
                .collect(Collectors.toMap(Event::key, event -> event.detail(Detail.REASON), (first, next) -> first))
                .values()
                .stream()
                .collect(Collectors.groupingBy(reason -> reason, Collectors.counting()));
    }
}
