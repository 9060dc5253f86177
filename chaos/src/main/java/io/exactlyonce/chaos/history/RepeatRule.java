package io.exactlyonce.chaos.history;

import static io.exactlyonce.chaos.history.Invariant.EFFECT_NOT_REPEATED;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Checks effects at a partner. A call may act once. Suppose that two calls act. The call with the lower fencing token
 * must have lost its worker or its claim after its last successful check. The other call must have been informed of the
 * doubt. Under {@code PARK}, an operator must also have released the key, and must have looked before the first call
 * acted.
 */
final class RepeatRule implements Rule {

    private static final Comparator<Call> BY_TOKEN = Comparator.comparingLong(Call::token)
            .thenComparing(call -> call.entered().order());

    @Override
    public void judge(KeyHistory key, Findings findings) {
        List<Event> effects = key.all(Kind.EFFECT).toList();
        if (effects.size() < 2) {
            return;
        }
        if (key.has(Partner.HONOURS_KEY)) {
            findings.duplicated(
                    EFFECT_NOT_REPEATED,
                    key.key(),
                    effects.size() - 1L,
                    "a partner that honours the key acted %d times".formatted(effects.size()),
                    effects);
            return;
        }
        judgeCalls(key, findings);
    }

    private static void judgeCalls(KeyHistory key, Findings findings) {
        List<Call> acting = key.calls().stream()
                .filter(call -> call.first(Kind.EFFECT).isPresent())
                .sorted(BY_TOKEN)
                .toList();
        for (Call call : acting) {
            List<Event> effects = call.all(Kind.EFFECT).toList();
            if (effects.size() > 1) {
                findings.duplicated(
                        EFFECT_NOT_REPEATED, key.key(), effects.size() - 1L, "one call acted several times", effects);
            }
        }
        for (int index = 1; index < acting.size(); index++) {
            judgePair(key, acting.get(index - 1), acting.get(index), findings);
        }
    }

    private static void judgePair(KeyHistory key, Call earlier, Call later, Findings findings) {
        Event effect = earlier.first(Kind.EFFECT).orElseThrow();
        if (later.knowsOfDoubt() && (!key.has("PARK") || key.mayBeReleasedUnseen(earlier, effect, later))) {
            Event from = surelyHeld(key, earlier, effect);
            // A zombie can act after its successor has started.
            Event to = effect.order() > later.entered().order() ? effect : later.entered();
            if (findings.inDoubt(key.key(), earlier.worker(), from, to)) {
                return;
            }
        }
        if (findings.forgotten(key, earlier, later.entered())) {
            return;
        }
        findings.duplicated(
                EFFECT_NOT_REPEATED,
                key.key(),
                1,
                reason(key, later),
                Stream.concat(
                                Stream.of(earlier.entered(), effect),
                                Stream.concat(Stream.of(later.entered()), later.all(Kind.EFFECT)))
                        .toList());
    }

    private static String reason(KeyHistory key, Call later) {
        if (key.has("PARK")) {
            return "repeated under PARK";
        }
        return later.knowsOfDoubt()
                ? "repeated without a crash, or the loss of a claim, that would explain it"
                : "repeated by an attempt that was not told of any doubt";
    }

    /**
     * Returns the last event at which the claim was certainly held. If there is none, returns the earliest event at
     * which it may have been held.
     */
    private static Event surelyHeld(KeyHistory key, Call call, Event effect) {
        return call.lastCheckBefore(effect)
                .orElseGet(() -> key.all(Kind.RECEIVED)
                        .filter(received -> received.worker().equals(call.worker()))
                        .filter(received -> received.order() < call.entered().order())
                        .findFirst()
                        .orElse(call.entered()));
    }
}
