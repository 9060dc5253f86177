package io.exactlyonce.chaos.history;

import java.util.Comparator;
import java.util.List;

/**
 * Checks keys of listeners with {@code maxAttempts}: the last permitted attempt that throws parks the key. The rule
 * counts only attempts that were certainly recorded. An attempt that was stopped, or that lost its claim or its worker,
 * may have counted or not.
 */
final class AttemptsRule implements Rule {

    private static final String PARKED = "maxAttempts (";

    @Override
    public void judge(KeyHistory key, Findings findings) {
        String promised = key.promise(Detail.MAX_ATTEMPTS);
        if (promised.isEmpty()) {
            return;
        }
        int most = Integer.parseInt(promised);
        List<Call> calls = key.calls().stream()
                .sorted(Comparator.comparingLong(Call::token))
                .toList();
        List<Event> threw =
                calls.stream().flatMap(call -> call.all(Kind.FAILED)).toList();
        List<Event> counted = calls.stream()
                .filter(AttemptsRule::threw)
                .filter(call -> !mayBeUncounted(key, calls, call, findings))
                .flatMap(call -> call.all(Kind.FAILED))
                .toList();
        boolean isParked = key.all(Kind.PARKED)
                .anyMatch(parked -> parked.detail(Detail.REASON).startsWith(PARKED));
        if (counted.size() > most) {
            violated(key, "%d attempts threw, and %d may".formatted(counted.size(), most), counted, findings);
        } else if (counted.size() == most && !key.status().equals("PARKED")) {
            violated(key, "%d attempts threw, and its key is not parked".formatted(most), counted, findings);
        } else if (isParked && threw.size() < most) {
            violated(
                    key,
                    "parked after %d attempts that threw, and %d may".formatted(threw.size(), most),
                    threw,
                    findings);
        }
    }

    private static void violated(KeyHistory key, String what, List<Event> events, Findings findings) {
        findings.violated(Invariant.ATTEMPTS_LIMITED, key.key(), what, events);
    }

    /** Returns whether the handler itself failed. An interrupt, or a lost claim, is not the handler's own failure. */
    private static boolean threw(Call call) {
        return call.first(Kind.REFUSED).isEmpty()
                && call.all(Kind.FAILED)
                        .noneMatch(failed -> failed.detail(Detail.REASON).contains("InterruptedException"));
    }

    /**
     * Returns whether a fault may have kept the worker from recording the failure, or may have stopped the handler. The
     * doubt of the next attempt proves that.
     */
    private static boolean mayBeUncounted(KeyHistory key, List<Call> calls, Call call, Findings findings) {
        int next = calls.indexOf(call) + 1;
        boolean leftDoubt = next < calls.size() && calls.get(next).knowsOfDoubt() && !call.knowsOfDoubt();
        return leftDoubt
                || call.first(Kind.FAILED)
                        .filter(failed -> findings.mayBeUnrecorded(call.worker(), key.claimingFrom(call), failed))
                        .isPresent();
    }
}
