package io.exactlyonce.test.interleaving;

import io.exactlyonce.claim.ClaimId;
import io.exactlyonce.claim.ClaimKey;
import io.exactlyonce.claim.ClaimOutcome;
import io.exactlyonce.claim.ClaimRequest;
import io.exactlyonce.claim.ClaimRequest.InDoubt;
import io.exactlyonce.claim.ClaimResolution;
import io.exactlyonce.claim.LeaseRenewal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Runs steps against a store, one after the other, and checks each answer. At the end, all keys are looked up and
 * claimed, and after a long time looked up and claimed again. This shows changes that no earlier answer has shown.
 */
final class Interleaving {

    /**
     * All clock jumps are multiples of 25 s, and lease lengths leave a remainder of 10 s when divided by 25 s. Each
     * step is therefore at least 10 s away from any lease's end, so the real time of a run does not matter.
     */
    private static final List<Duration> JUMPS =
            List.of(Duration.ofSeconds(25), Duration.ofSeconds(50), Duration.ofSeconds(125), Duration.ofDays(10));

    private static final List<Duration> LEASES = List.of(Duration.ofSeconds(60), Duration.ofSeconds(110));
    private static final List<String> PAYLOADS = List.of(ClaimKey.sha256("one"), ClaimKey.sha256("other"));

    private final StoreInTime subject;
    private final String scope = UUID.randomUUID().toString();
    private final List<ClaimKey> keys;
    private final Map<ClaimKey, Invariants> invariants = new HashMap<>();
    private final Map<ClaimKey, Operator> operators = new HashMap<>();
    private final Map<Integer, List<ClaimRequest>> claims = new HashMap<>();
    private Duration now = Duration.ZERO;

    private Interleaving(StoreInTime subject) {
        this.subject = subject;
        this.keys = IntStream.range(0, Step.KEYS)
                .mapToObj(key -> new ClaimKey(scope, String.valueOf(key)))
                .toList();
        for (ClaimKey key : keys) {
            var model = new KeyModel();
            invariants.put(key, new Invariants(model));
            operators.put(key, new Operator(subject, key, model));
        }
    }

    /** Fails on the first answer that breaks a rule. */
    static void check(StoreInTime subject, List<Step> steps) {
        var run = new Interleaving(subject);
        steps.forEach(run::take);
        run.end();
        run.pass(JUMPS.get(JUMPS.size() - 1));
        run.end();
    }

    private void end() {
        look();
        operators.values().forEach(Operator::look);
        claim(-1, keys, 0, InDoubt.TAKE_OVER);
    }

    private void take(Step step) {
        List<ClaimKey> key = List.of(keys.get(step.key()));
        switch (step.kind()) {
            case CLAIM -> claim(step.worker(), key, step.variant(), InDoubt.TAKE_OVER);
            case CLAIM_CAUTIOUSLY -> claim(step.worker(), key, step.variant(), InDoubt.PARK);
            case CLAIM_ALL_KEYS -> claim(step.worker(), keys, step.variant(), InDoubt.TAKE_OVER);
            case CLAIM_AGAIN -> underAClaim(step, (request, history) -> send(List.of(request)));
            case RENEW -> underAClaim(step, (request, history) -> renew(request, step.variant(), history));
            case COMPLETE -> underAClaim(step, (request, history) -> complete(request.id(), step.variant(), history));
            case RELEASE -> underAClaim(step, (request, history) -> release(request.id(), false, threw(step), history));
            case RELEASE_IN_DOUBT ->
                underAClaim(step, (request, history) -> release(request.id(), true, false, history));
            case PARK -> underAClaim(step, (request, history) -> park(request.id(), false, threw(step), history));
            case PARK_IN_DOUBT -> underAClaim(step, (request, history) -> park(request.id(), true, false, history));
            case LOOK -> look();
            case RELEASE_PARKED -> operators.get(key.get(0)).release(step.variant());
            case COMPLETE_PARKED -> operators.get(key.get(0)).complete(step.variant());
            case CRASH -> claims.remove(step.worker());
            case CLOCK_JUMP -> pass(JUMPS.get(step.variant()));
        }
    }

    private void claim(int worker, List<ClaimKey> wanted, int variant, InDoubt inDoubt) {
        List<ClaimRequest> requests = wanted.stream()
                .map(key -> new ClaimRequest(
                        new ClaimId(key, UUID.randomUUID()),
                        "worker " + worker,
                        lease(variant),
                        inDoubt,
                        payload(variant)))
                .toList();
        claims.computeIfAbsent(worker, first -> new ArrayList<>()).addAll(0, requests);
        send(requests);
    }

    private void send(List<ClaimRequest> requests) {
        List<ClaimOutcome> outcomes = subject.store().claim(requests);
        for (int i = 0; i < requests.size(); i++) {
            ClaimRequest request = requests.get(i);
            invariants.get(request.key()).claimed(request, outcomes.get(i), now);
        }
    }

    private void renew(ClaimRequest request, int variant, Invariants history) {
        Duration lease = lease(variant);
        boolean told = subject.store()
                .renew(List.of(new LeaseRenewal(request.id(), lease)))
                .granted()
                .contains(request.id());
        history.renewed(request.claimId(), told, now.plus(lease));
    }

    private void complete(ClaimId claim, int variant, Invariants history) {
        String json = String.valueOf(variant);
        boolean told = subject.store()
                .resolve(List.of(new ClaimResolution.Completed(claim, json)))
                .granted()
                .contains(claim);
        history.completed(claim.value(), told, json);
    }

    private static boolean threw(Step step) {
        return step.variant() % 2 == 1;
    }

    private void release(ClaimId claim, boolean inDoubt, boolean threw, Invariants history) {
        boolean told = subject.store()
                .resolve(List.of(new ClaimResolution.Released(claim, "failed", inDoubt, threw)))
                .granted()
                .contains(claim);
        history.released(claim.value(), told, inDoubt, threw);
    }

    private void park(ClaimId claim, boolean inDoubt, boolean threw, Invariants history) {
        boolean told = subject.store()
                .resolve(List.of(new ClaimResolution.Parked(claim, "told to", inDoubt, threw)))
                .granted()
                .contains(claim);
        history.parked(claim.value(), told, inDoubt, threw);
    }

    private void look() {
        subject.store().peek(keys).forEach((key, told) -> invariants.get(key).looked(told, now));
    }

    private void pass(Duration time) {
        subject.pass(scope, time);
        now = now.plus(time);
    }

    /**
     * Uses one of the worker's claims of the key. Usually this is the latest claim, and sometimes one that was lost
     * long ago.
     */
    private void underAClaim(Step step, BiConsumer<ClaimRequest, Invariants> call) {
        ClaimKey key = keys.get(step.key());
        List<ClaimRequest> own = claims.getOrDefault(step.worker(), List.of()).stream()
                .filter(request -> request.key().equals(key))
                .toList();
        Optional<ClaimRequest> chosen =
                own.stream().skip(step.variant() == 0 ? 1 : 0).findFirst();
        chosen.ifPresent(request -> call.accept(request, invariants.get(key)));
    }

    private static Duration lease(int variant) {
        return LEASES.get(variant % LEASES.size());
    }

    private static @Nullable String payload(int variant) {
        return variant < PAYLOADS.size() ? PAYLOADS.get(variant) : null;
    }
}
