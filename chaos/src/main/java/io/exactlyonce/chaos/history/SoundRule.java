package io.exactlyonce.chaos.history;

import static io.exactlyonce.chaos.history.Invariant.SOUND_HISTORY;

import java.util.HashSet;
import java.util.Set;

/** Every key was sent. Every handler was entered once, before all its other events. Each check has a start. */
final class SoundRule implements Rule {

    @Override
    public void judge(KeyHistory key, Findings findings) {
        if (!key.has(Kind.SENDING)) {
            findings.violated(
                    SOUND_HISTORY, key.key(), "it was never sent", key.events().get(0));
        }
        Set<String> entered = new HashSet<>();
        for (Event event : key.events()) {
            boolean isFirst = event.kind() == Kind.ENTERED || event.kind() == Kind.OBSERVED;
            if (isFirst && !entered.add(event.call())) {
                findings.violated(SOUND_HISTORY, key.key(), "one call is entered twice", event);
            } else if (!event.call().isEmpty() && !entered.contains(event.call())) {
                findings.violated(SOUND_HISTORY, key.key(), "its call was never entered", event);
            }
        }
        key.calls().forEach(call -> judge(key, call, findings));
    }

    private static void judge(KeyHistory key, Call call, Findings findings) {
        boolean checking = false;
        for (Event event : call.events()) {
            if (event.kind() == Kind.CHECKING) {
                checking = true;
            } else if (event.kind() == Kind.CHECKED || event.kind() == Kind.REFUSED) {
                if (!checking) {
                    findings.violated(SOUND_HISTORY, key.key(), "a check ended without a start", event);
                }
                checking = false;
            }
        }
    }
}
