package io.exactlyonce.dynamodb;

import io.exactlyonce.boundary.PrintableException;
import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimOutcome.HeldElsewhere;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.ClaimStoreUnavailableException;
import io.exactlyonce.claim.KeySnapshot;
import io.exactlyonce.claim.KeySnapshot.Action;
import io.exactlyonce.claim.KeySnapshot.Decision;
import io.exactlyonce.claim.KeyStatus;
import io.exactlyonce.claim.LeaseRenewal;
import io.exactlyonce.dynamodb.clock.LeaseClock;
import io.exactlyonce.dynamodb.item.ClaimItem;
import io.exactlyonce.dynamodb.item.ClaimStatements;
import io.exactlyonce.dynamodb.item.ClaimStatements.Statement;
import io.exactlyonce.dynamodb.request.PartiQl.Again;
import io.exactlyonce.dynamodb.request.PartiQl.Answer;
import io.exactlyonce.dynamodb.request.PartiQl.Differs;
import io.exactlyonce.dynamodb.request.PartiQl.Failed;
import io.exactlyonce.dynamodb.request.PartiQl.Written;
import io.exactlyonce.dynamodb.request.Rounds;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides which writes a call sends for one key, and interprets the answers. Resolutions and renewals come first, one
 * by one, and then claim requests. Used by one thread at a time.
 *
 * <p>A claim request is first sent as the insert of a new item. If the key already has an item, DynamoDB refuses the
 * insert, and the item is read. {@link KeySnapshot} then decides about the request. If a write is needed, the item is
 * updated, on condition that it is unchanged. If another worker has changed the item, the decision is repeated with the
 * new item.
 */
final class KeyWork implements Rounds.Work {

    private static final Logger log = LoggerFactory.getLogger(KeyWork.class);

    /**
     * A claim request fails if its write is refused more often than this, because other workers keep changing the item.
     * Competing workers normally change an item only a few times.
     */
    private static final int MOST_LOOKS = 20;

    private final String pk;
    private final ClaimStatements statements;
    private final LeaseClock clock;

    private final Deque<Change> changes = new ArrayDeque<>();
    private final Set<ClaimId> granted = new HashSet<>();
    private final Set<ClaimId> unanswered = new HashSet<>();
    private boolean isAnyLost;
    private @Nullable RuntimeException firstFailure;

    private final List<ClaimRequest> requests = new ArrayList<>(1);
    private final Deque<ClaimOutcome> outcomes = new ArrayDeque<>(1);
    private @Nullable RuntimeException claimFailure;
    private @Nullable ClaimItem item;
    private @Nullable Step step;
    private int looks;

    /**
     * A change to an existing claim: a resolution, a renewal, or an operator's decision.
     *
     * @param renewal the renewal; {@code null} for other changes
     * @param status the item's status after a completion or parking. If the item already has this status, an earlier
     *     call has made the change. {@code null} for other changes
     */
    private record Change(
            ClaimId claim,
            Statement statement,
            @Nullable LeaseRenewal renewal,
            @Nullable KeyStatus status) {

        /**
         * Returns whether the item has the result of the change already, so that nothing need be written. A renewal is
         * also needless after the claim was completed, which a transaction of the application may do while the handler
         * is still running.
         */
        boolean isNeedless(@Nullable ClaimItem found) {
            return found != null
                    && ((status != null && found.is(status, claim))
                            || (renewal != null && found.isCompletedByTransaction(claim)));
        }
    }

    /**
     * A write for claim requests, and the outcome if the write succeeds.
     *
     * @param winner the request that gets the key, or {@code null} if the key is parked
     */
    private record Step(Statement statement, @Nullable ClaimRequest winner, ClaimOutcome outcome) {}

    KeyWork(ClaimKey key, DynamoDbClaims table) {
        this.pk = key.downstreamKey();
        this.statements = table.statements;
        this.clock = table.clock;
    }

    @Override
    public String pk() {
        return pk;
    }

    void renew(LeaseRenewal renewal) {
        changes.add(new Change(renewal.claim(), statements.renew(pk, renewal), renewal, null));
    }

    void resolve(ClaimResolution resolution) {
        changes.add(new Change(resolution.claim(), statements.resolve(pk, resolution), null, repeatable(resolution)));
    }

    /**
     * Returns the status by which a repeated completion or parking is recognized as done. Returns {@code null} for a
     * release. If a release is repeated, the claim counts as lost.
     */
    private static @Nullable KeyStatus repeatable(ClaimResolution resolution) {
        if (resolution instanceof ClaimResolution.Completed) {
            return KeyStatus.COMPLETED;
        }
        return resolution instanceof ClaimResolution.Parked ? KeyStatus.PARKED : null;
    }

    void change(ClaimId claim, Statement statement) {
        changes.add(new Change(claim, statement, null, null));
    }

    void claim(ClaimRequest request) {
        requests.add(request);
    }

    @Override
    public @Nullable Statement next() {
        Change change = changes.peek();
        if (change != null) {
            return change.statement();
        }
        if (step == null && outcomes.size() < requests.size() && claimFailure == null) {
            try {
                step = decide(item);
            } catch (RuntimeException unreadable) {
                claimFailure = ClaimItem.unreadable(unreadable);
            }
        }
        return step == null ? null : step.statement();
    }

    @Override
    public void answered(Answer answer) {
        Change change = changes.poll();
        if (change != null) {
            answered(change, answer);
        } else {
            Step done = Objects.requireNonNull(step);
            step = null;
            answered(done, answer);
        }
    }

    private void answered(Change change, Answer answer) {
        if (answer instanceof Written && change.renewal() != null && isDoubtful(change.statement())) {
            renew(change.renewal());
        } else if (answer instanceof Written || (answer instanceof Differs differs && isNeedless(change, differs))) {
            granted.add(change.claim());
        } else if (answer instanceof Differs) {
            isAnyLost = true;
        } else {
            unanswered.add(change.claim());
            boolean isLocked = answer instanceof Again again && again.isLocked();
            firstFailure = firstFailure != null || isLocked ? firstFailure : failure(answer);
        }
    }

    private static boolean isNeedless(Change change, Differs differs) {
        try {
            return change.isNeedless(differs.item());
        } catch (RuntimeException unreadable) {
            log.warn(
                    "A resolution or renewal of {} has no effect, because its item cannot be read",
                    change.claim().key(),
                    PrintableException.of(ClaimItem.unreadable(unreadable)));
            return false;
        }
    }

    private void answered(Step done, Answer answer) {
        ClaimRequest winner = done.winner();
        if (answer instanceof Written && winner != null && isDoubtful(done.statement())) {
            step = new Step(renewal(winner), winner, done.outcome());
        } else if (answer instanceof Written) {
            int winning = requests.indexOf(winner);
            for (int i = 0; i < requests.size(); i++) {
                outcomes.add(winner == null || i == winning ? done.outcome() : new HeldElsewhere(winner.lease()));
            }
        } else if (answer instanceof Differs differs) {
            item = differs.item();
            if (++looks > MOST_LOOKS) {
                claimFailure = new ClaimStoreUnavailableException(
                        "The owner of a key changed %d times during the claim".formatted(MOST_LOOKS), null);
            }
        } else if (answer instanceof Again again && again.isLocked()) {
            // An application transaction locks the item, perhaps to complete the claim. Until it ends, the key counts
            // as held elsewhere.
            requests.forEach(request -> outcomes.add(new HeldElsewhere(Duration.ZERO)));
        } else {
            claimFailure = failure(answer);
        }
    }

    /**
     * Returns whether a lease was written with an end that may be wrong, because DynamoDB's responses contradict each
     * other. The caller then writes the lease again, without an end, because DynamoDB's clock cannot be used.
     */
    private boolean isDoubtful(Statement statement) {
        return statement.isTimed() && clock.isContradicted();
    }

    private static RuntimeException failure(Answer answer) {
        return answer instanceof Failed failed
                ? failed.why()
                : new ClaimStoreUnavailableException(
                        "DynamoDB did not accept a write: " + ((Again) answer).reason(), null);
    }

    /**
     * Decides about all claim requests. Returns the write for them. If they need no write, answers them, and returns
     * {@code null}.
     */
    private @Nullable Step decide(@Nullable ClaimItem seen) {
        if (seen == null) {
            ClaimRequest first = requests.get(0);
            Decision decision = Decision.first(Math.max(1, statements.nowMicros()));
            return new Step(statements.first(pk, first, decision.claim()), first, decision.outcome());
        }
        KeySnapshot key = seen.snapshot(clock, statements.nowMicros());
        List<Decision> decisions = requests.stream().map(key::decide).toList();
        int winner = winner(decisions);
        if (winner < 0) {
            decisions.forEach(decision -> outcomes.add(decision.outcome()));
            return null;
        }
        ClaimRequest request = requests.get(winner);
        Decision decision = decisions.get(winner);
        return switch (decision.action()) {
            // The request is repeated. Its caller counts the lease from the repetition, so the stored lease must begin
            // again, too.
            case RENEW -> new Step(renewal(request), request, decision.outcome());
            case PARK -> new Step(statements.park(seen), null, decision.outcome());
            default -> new Step(statements.takeOver(seen, request, decision.claim()), request, decision.outcome());
        };
    }

    /**
     * Chooses the request whose decision is written, and returns its position. If a request already holds the key,
     * chooses this request. If not, chooses the first request that is not refused. Returns -1 if all are refused.
     */
    private static int winner(List<Decision> decisions) {
        int winner = -1;
        for (int i = decisions.size() - 1; i >= 0; i--) {
            Action action = decisions.get(i).action();
            if (action == Action.RENEW) {
                return i;
            }
            winner = action == Action.REFUSE ? winner : i;
        }
        return winner;
    }

    private Statement renewal(ClaimRequest request) {
        return statements.renew(pk, new LeaseRenewal(request.id(), request.lease()));
    }

    /**
     * Removes and returns the next outcome, in the order of the claim requests.
     *
     * @throws RuntimeException if the requests got no answer, or if the key's item cannot be read
     */
    ClaimOutcome outcome() {
        if (claimFailure != null) {
            throw claimFailure;
        }
        return outcomes.remove();
    }

    /**
     * Joins the answers to all resolutions, renewals and operators' decisions.
     *
     * @throws RuntimeException if no claim got an answer, unless the only reason is that application transactions lock
     *     the items
     */
    static ClaimAnswers answers(Collection<KeyWork> works) {
        Set<ClaimId> granted = new HashSet<>();
        Set<ClaimId> unanswered = new HashSet<>();
        RuntimeException failure = null;
        boolean isAnyLost = false;
        for (KeyWork work : works) {
            granted.addAll(work.granted);
            unanswered.addAll(work.unanswered);
            isAnyLost |= work.isAnyLost;
            failure = failure == null ? work.firstFailure : failure;
        }
        if (failure != null && granted.isEmpty() && !isAnyLost) {
            throw failure;
        }
        return new ClaimAnswers(granted, unanswered, failure);
    }
}
