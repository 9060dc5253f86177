package io.exactlyonce.queue;

import io.exactlyonce.claim.ClaimAnswers;
import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.FencingClaimStore;
import io.exactlyonce.claim.KeyState;
import io.exactlyonce.claim.LeaseRenewal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A store that records calls, and gives the answers that a test scripts. The default grants every request. */
public final class ScriptedStore implements FencingClaimStore {

    private final List<ClaimRequest> claims = new ArrayList<>();
    private final List<List<LeaseRenewal>> renewals = new ArrayList<>();
    private final List<ClaimResolution.Completed> completions = new ArrayList<>();
    private final List<ClaimResolution.Released> releases = new ArrayList<>();
    private final List<ClaimResolution.Parked> parkings = new ArrayList<>();
    private final Deque<Supplier<ClaimOutcome>> claimAnswers = new ArrayDeque<>();
    private final Deque<Function<Set<ClaimId>, Set<ClaimId>>> renewalAnswers = new ArrayDeque<>();
    private final Deque<Function<Set<ClaimId>, Set<ClaimId>>> completionAnswers = new ArrayDeque<>();
    private final Deque<Function<Set<ClaimId>, Set<ClaimId>>> releaseAnswers = new ArrayDeque<>();
    private Set<ClaimId> unanswered = Set.of();
    private boolean claimsFail;
    private volatile Predicate<ClaimId> fence = claim -> true;
    private final Deque<Function<Set<ClaimId>, Set<ClaimId>>> parkingAnswers = new ArrayDeque<>();

    private int claimCalls;
    private int completionCalls;
    private final List<Set<ClaimKey>> looks = new ArrayList<>();
    private final Map<ClaimKey, KeyState> states = new HashMap<>();
    private final Deque<Runnable> duringLooks = new ArrayDeque<>();
    private boolean looksFail;

    @Override
    public synchronized Map<ClaimKey, KeyState> peek(Collection<ClaimKey> keys) {
        looks.add(Set.copyOf(keys));
        if (looksFail) {
            throw new IllegalStateException("connection refused");
        }
        Map<ClaimKey, KeyState> answer =
                keys.stream().collect(Collectors.toMap(key -> key, key -> states.getOrDefault(key, KeyState.HELD)));
        if (!duringLooks.isEmpty()) {
            duringLooks.remove().run();
        }
        return answer;
    }

    @Override
    public synchronized List<ClaimOutcome> claim(List<ClaimRequest> requests) {
        claims.addAll(requests);
        claimCalls++;
        if (claimsFail) {
            throw new IllegalStateException("could not extend file: no space left on device");
        }
        if (requests.isEmpty()) {
            nextOutcome();
        }
        return requests.stream().map(request -> nextOutcome()).toList();
    }

    private ClaimOutcome nextOutcome() {
        return claimAnswers.isEmpty()
                ? new ClaimOutcome.Acquired(1, 1, false)
                : claimAnswers.remove().get();
    }

    /** Returns the number of calls that contained claims. */
    public synchronized int claimCalls() {
        return claimCalls;
    }

    /** Returns the number of calls that contained completions. */
    public synchronized int completionCalls() {
        return completionCalls;
    }

    @Override
    public synchronized ClaimAnswers renew(List<LeaseRenewal> requests) {
        renewals.add(requests);
        return answers(answer(renewalAnswers, ids(requests, LeaseRenewal::claim)));
    }

    @Override
    public synchronized ClaimAnswers resolve(List<? extends ClaimResolution> resolutions) {
        List<ClaimResolution.Completed> completed = of(ClaimResolution.Completed.class, resolutions);
        completionCalls += completed.isEmpty() ? 0 : 1;
        Set<ClaimId> recorded = new HashSet<>(end(completed, completions, completionAnswers));
        recorded.addAll(end(of(ClaimResolution.Released.class, resolutions), releases, releaseAnswers));
        recorded.addAll(end(of(ClaimResolution.Parked.class, resolutions), parkings, parkingAnswers));
        return answers(recorded);
    }

    private ClaimAnswers answers(Set<ClaimId> granted) {
        Set<ClaimId> locked = unanswered;
        unanswered = Set.of();
        return new ClaimAnswers(granted, locked, null);
    }

    private static <E extends ClaimResolution> List<E> of(Class<E> kind, List<? extends ClaimResolution> resolutions) {
        return resolutions.stream().filter(kind::isInstance).map(kind::cast).toList();
    }

    private static <E extends ClaimResolution> Set<ClaimId> end(
            List<E> ends, List<E> calls, Deque<Function<Set<ClaimId>, Set<ClaimId>>> answers) {
        calls.addAll(ends);
        return ends.isEmpty() ? Set.of() : answer(answers, ids(ends, ClaimResolution::claim));
    }

    @Override
    public boolean fence(ClaimId claim) {
        return fence.test(claim);
    }

    private static <T> Set<ClaimId> ids(List<? extends T> requests, Function<T, ClaimId> claim) {
        return requests.stream().map(claim).collect(Collectors.toSet());
    }

    private static Set<ClaimId> answer(Deque<Function<Set<ClaimId>, Set<ClaimId>>> answers, Set<ClaimId> requested) {
        return answers.isEmpty() ? requested : answers.remove().apply(requested);
    }

    public synchronized List<ClaimRequest> claims() {
        return List.copyOf(claims);
    }

    public synchronized List<List<LeaseRenewal>> renewals() {
        return List.copyOf(renewals);
    }

    public synchronized List<ClaimResolution.Completed> completions() {
        return List.copyOf(completions);
    }

    public synchronized List<ClaimResolution.Released> releases() {
        return List.copyOf(releases);
    }

    public synchronized List<ClaimResolution.Parked> parkings() {
        return List.copyOf(parkings);
    }

    /** Returns the ids of all requested claims, without repeats. */
    public synchronized List<ClaimId> claimed() {
        return claims.stream().map(ClaimRequest::id).distinct().toList();
    }

    /** Scripts the outcomes of the next claims: one outcome for each key. */
    public void answer(ClaimOutcome... outcomes) {
        Stream.of(outcomes).forEach(outcome -> onClaim(() -> outcome));
    }

    /** Makes this number of claims, one after another, fail for this reason. */
    public void refuseClaims(int times, RuntimeException failure) {
        for (int time = 0; time < times; time++) {
            onClaim(() -> {
                throw failure;
            });
        }
    }

    public void loseRenewals(int times) {
        lose(renewalAnswers, times);
    }

    public void loseCompletions(int times) {
        lose(completionAnswers, times);
    }

    /** Makes this number of releases and this number of parkings get no answer. */
    public void loseFailures(int times) {
        lose(releaseAnswers, times);
        lose(parkingAnswers, times);
    }

    private static void lose(Deque<Function<Set<ClaimId>, Set<ClaimId>>> answers, int times) {
        for (int time = 0; time < times; time++) {
            answers.add(requested -> {
                throw new IllegalStateException("connection refused");
            });
        }
    }

    public void onClaim(Supplier<ClaimOutcome> answer) {
        claimAnswers.add(answer);
    }

    public void onRenew(Function<Set<ClaimId>, Set<ClaimId>> answer) {
        renewalAnswers.add(answer);
    }

    public void onComplete(Function<Set<ClaimId>, Set<ClaimId>> answer) {
        completionAnswers.add(answer);
    }

    /** Leaves these claims out of the next answer to renewals or resolutions, as if their rows were locked. */
    public synchronized void lock(ClaimId... claims) {
        unanswered = Set.of(claims);
    }

    public void onFence(Predicate<ClaimId> answer) {
        fence = answer;
    }

    public void onRelease(Function<Set<ClaimId>, Set<ClaimId>> answer) {
        releaseAnswers.add(answer);
    }

    /** Returns the keys of each lookup. */
    public synchronized List<Set<ClaimKey>> looks() {
        return List.copyOf(looks);
    }

    /** Sets the state that a lookup finds. Other keys are held. */
    public synchronized void putState(ClaimKey key, KeyState state) {
        states.put(key, state);
    }

    /** Makes all claims fail from now on, or answers them again. */
    public synchronized void failClaims(boolean fail) {
        claimsFail = fail;
    }

    /** Makes all lookups fail from now on, or answers them again. */
    public synchronized void failLooks(boolean fail) {
        looksFail = fail;
    }

    /**
     * Adds an action that one lookup runs after it has computed its answer. Each lookup runs the oldest remaining
     * action.
     */
    public synchronized void duringLook(Runnable event) {
        duringLooks.add(event);
    }

    public void onPark(Function<Set<ClaimId>, Set<ClaimId>> answer) {
        parkingAnswers.add(answer);
    }
}
