package io.exactlyonce.chaos.history;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Checks follow-up messages. A handled key has a follow-up message, with the same key in all attempts. A transaction
 * that was rolled back has none. {@link RepeatRule} checks that a follow-up message has its effect once, because its
 * partner honours the key.
 */
final class FollowUpRule {

    private FollowUpRule() {}

    static void judge(List<KeyHistory> keys, Findings findings) {
        Map<String, List<KeyHistory>> followUps = keys.stream()
                .filter(key -> !key.promise(Detail.FOLLOWS).isEmpty())
                .collect(Collectors.groupingBy(key -> key.promise(Detail.FOLLOWS)));
        keys.stream()
                .filter(key -> key.promise(Detail.FOLLOWED).equals("true"))
                .forEach(key -> judge(key, followUps.getOrDefault(key.key(), List.of()), findings));
    }

    private static void judge(KeyHistory key, List<KeyHistory> followUps, Findings findings) {
        List<Event> sending = followUps.stream()
                .flatMap(followUp -> followUp.first(Kind.SENDING).stream())
                .toList();
        if (followUps.size() > 1) {
            findings.duplicated(
                    Invariant.FOLLOW_UP_ONCE,
                    key.key(),
                    followUps.size() - 1L,
                    "its follow-up messages have %d keys".formatted(followUps.size()),
                    sending);
        }
        Optional<Event> done = key.first(key.isInDatabase() ? Kind.ROW : Kind.HANDLED);
        if (done.isPresent() && followUps.stream().noneMatch(followUp -> followUp.has(Kind.SENT))) {
            findings.lostFollowUp(key.key(), done.get());
        }
        if (key.isInDatabase() && done.isEmpty() && !sending.isEmpty()) {
            judgeRolledBack(key, sending.get(0), findings);
        }
    }

    /** A failover may forget a transaction whose message was already sent. */
    private static void judgeRolledBack(KeyHistory key, Event sending, Findings findings) {
        Event entered = key.first(Kind.ENTERED).orElse(sending);
        if (!findings.forgottenInTheEnd(key.key(), entered, sending)) {
            findings.violated(
                    Invariant.FOLLOW_UP_ONCE,
                    key.key(),
                    "its follow-up message was sent, and its transaction does not exist",
                    entered,
                    sending);
        }
    }
}
