package io.exactlyonce.claim.coalescing;

import io.exactlyonce.claim.ClaimBatch;
import io.exactlyonce.claim.ClaimBatchResult;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimStore;
import io.exactlyonce.claim.ClaimStoreBusyException;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.ClaimsLockedException;
import io.exactlyonce.claim.ClaimsPartlyAnsweredException;
import io.exactlyonce.claim.Completion;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.claim.Parking;
import io.exactlyonce.claim.Release;
import io.exactlyonce.claim.coalescing.PendingCall.Kind;
import io.exactlyonce.time.NanoClock;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * Puts calls of many threads together, so that they share the store's transactions. Callers wait for their own answers.
 * Nobody waits for a batch to fill: it is whatever waits when a flusher is free, so batches grow with the load.
 *
 * <p>Guaranteed, besides what the store guarantees: renewals have a batch of their own on the way at any time, so neither
 * a flood of claims nor a stuck one delays them in here; ends go before claims; entries for one key reach the store one
 * after the other, in no batch together but for claims; an entry that the store can never take, or whose row is locked,
 * fails alone; a call throws only when nothing of it is on its way to the store any more, so that whoever gives a claim up
 * after that cannot be overtaken by it.
 *
 * <p>Not guaranteed: the order of entries for different keys. When the store fails, it fails for a whole batch.
 */
public final class CoalescingClaimStore implements ClaimStore, AutoCloseable {

    private final ClaimStore store;
    private final Flusher writes;
    private final Flusher renewals;

    /**
     * @param store what answers; closing this does not close it
     * @param terms how calls are put together
     * @param clock monotonic, in nanoseconds
     * @param mayFlush tells whether the thread that calls may call the store itself while hardly anybody else calls
     */
    public CoalescingClaimStore(ClaimStore store, CoalescingSettings terms, NanoClock clock, BooleanSupplier mayFlush) {
        this.store = store;
        CoalescingSettings alone = new CoalescingSettings(1, terms.maxBatch(), terms.maxWaiting(), terms.patience());
        this.writes = new Flusher("exactly-once-claims-", terms, this::writeBatch, clock, mayFlush);
        this.renewals = new Flusher("exactly-once-claim-renewals-", alone, this::renewBatch, clock, () -> false);
    }

    /**
     * Claims keys.
     *
     * @throws ClaimStoreBusyException if the store was too busy to be asked in time, if the thread was interrupted before
     *     it was asked, or after {@link #close()}
     * @throws ClaimStoreUnavailableException if the store failed
     */
    @Override
    public List<ClaimOutcome> claim(List<ClaimRequest> requests) {
        List<ClaimOutcome> outcomes = new ArrayList<>(requests.size());
        answered(ask(writes, Kind.CLAIM, requests, ClaimRequest::id)).forEach(entry -> outcomes.add(entry.outcome()));
        return outcomes;
    }

    /**
     * Extends leases: more than a batch takes go in several, and one that fails, or that cannot go in time, costs only its
     * own leases their answer.
     *
     * @throws ClaimsPartlyAnsweredException if some leases got no answer
     * @throws RuntimeException if none did
     */
    @Override
    public Set<ClaimId> renew(List<LeaseRenewal> leases) {
        List<PendingCall> entries = ask(renewals, Kind.RENEWAL, leases, LeaseRenewal::claim);
        List<PendingCall> failed =
                entries.stream().filter(entry -> entry.failure() != null).toList();
        return failed.isEmpty() || failed.size() == entries.size()
                ? granted(answered(entries))
                : partlyGranted(entries, failed);
    }

    @Override
    public Set<ClaimId> complete(List<Completion> completions) {
        return granted(answered(ask(writes, Kind.COMPLETION, completions, Completion::claim)));
    }

    @Override
    public Set<ClaimId> release(List<Release> releases) {
        return granted(answered(ask(writes, Kind.RELEASE, releases, Release::claim)));
    }

    @Override
    public Set<ClaimId> park(List<Parking> parkings) {
        return granted(answered(ask(writes, Kind.PARKING, parkings, Parking::claim)));
    }

    /** Nothing is put together here: whoever asks does that already, for all that wait. */
    @Override
    public Map<ClaimKey, KeyState> look(Collection<ClaimKey> keys) {
        return store.look(keys);
    }

    /** In the caller's own transaction, which nobody else can share. */
    @Override
    public boolean fence(ClaimId claim) {
        return store.fence(claim);
    }

    private static <R> List<PendingCall> ask(Flusher lane, Kind kind, List<R> requests, Function<R, ClaimId> claim) {
        List<PendingCall> entries = new ArrayList<>(requests.size());
        requests.forEach(request -> entries.add(new PendingCall(kind, claim.apply(request), request)));
        if (!entries.isEmpty()) {
            lane.ask(entries);
        }
        return entries;
    }

    /** @throws RuntimeException the first one that an entry ended with */
    private static List<PendingCall> answered(List<PendingCall> entries) {
        for (PendingCall entry : entries) {
            RuntimeException failure = entry.failure();
            if (failure != null) {
                throw failure;
            }
        }
        return entries;
    }

    private static Set<ClaimId> partlyGranted(List<PendingCall> entries, List<PendingCall> failed) {
        Set<ClaimId> granted = claims(entries, PendingCall::isGranted);
        Set<ClaimId> unanswered = claims(entries, entry -> entry.failure() != null || entry.isLocked());
        // Of two entries for one claim, one that was answered is enough.
        unanswered.removeAll(granted);
        RuntimeException first = failed.get(0).failure();
        throw new ClaimsPartlyAnsweredException(
                "%d of %d leases got no answer: %s"
                        .formatted(unanswered.size(), entries.size(), first == null ? "" : first.getMessage()),
                unanswered,
                granted,
                first);
    }

    private static Set<ClaimId> claims(List<PendingCall> entries, Predicate<PendingCall> chosen) {
        return entries.stream().filter(chosen).map(PendingCall::claim).collect(Collectors.toSet());
    }

    private static Set<ClaimId> granted(List<PendingCall> entries) {
        return ClaimsLockedException.requireNone(
                claims(entries, PendingCall::isLocked), claims(entries, PendingCall::isGranted));
    }

    private void renewBatch(List<PendingCall> batch) {
        try {
            Set<ClaimId> held = store.renew(PendingCall.requests(batch, Kind.RENEWAL, LeaseRenewal.class));
            batch.forEach(entry -> entry.grantIfAmong(held));
        } catch (ClaimsLockedException some) {
            batch.forEach(entry -> entry.grantIfAmong(some.granted()));
            batch.forEach(entry -> entry.lockIfAmong(some.locked()));
        }
    }

    private void writeBatch(List<PendingCall> batch) {
        ClaimBatchResult result = store.apply(new ClaimBatch(
                PendingCall.requests(batch, Kind.COMPLETION, Completion.class),
                PendingCall.requests(batch, Kind.RELEASE, Release.class),
                PendingCall.requests(batch, Kind.PARKING, Parking.class),
                PendingCall.requests(batch, Kind.CLAIM, ClaimRequest.class)));
        batch.forEach(entry -> entry.lockIfAmong(result.locked()));
        Iterator<ClaimOutcome> outcomes = result.claimed().iterator();
        for (PendingCall entry : batch) {
            switch (entry.kind()) {
                case COMPLETION -> entry.grantIfAmong(result.completed());
                case RELEASE -> entry.grantIfAmong(result.released());
                case PARKING -> entry.grantIfAmong(result.parked());
                default -> entry.decide(outcomes.next());
            }
        }
    }

    /** Flushes what waits, refuses what comes, and ends the flushers. */
    @Override
    public void close() {
        writes.close();
        renewals.close();
    }
}
