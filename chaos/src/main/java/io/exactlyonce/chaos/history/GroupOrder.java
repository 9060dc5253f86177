package io.exactlyonce.chaos.history;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Message groups of FIFO queues: a message's handler begins after the one in front of it is done. Messages that left
 * the queue otherwise (parked, or in the dead-letter queue) hold no message up.
 */
final class GroupOrder {

    private GroupOrder() {}

    static void judge(List<KeyHistory> keys, Findings findings) {
        Map<String, List<KeyHistory>> groups = keys.stream()
                .filter(key -> !key.promise(Detail.GROUP).isEmpty())
                .filter(key -> !isPassedOver(key))
                .sorted(Comparator.comparingLong(key -> Long.parseLong(key.promise(Detail.POSITION))))
                .collect(Collectors.groupingBy(key -> key.promise(Detail.GROUP)));
        groups.values().forEach(group -> {
            for (int index = 1; index < group.size(); index++) {
                judge(group.get(index - 1), group.get(index), findings);
            }
        });
    }

    /** A reconciler may complete a key without its handler. */
    private static boolean isPassedOver(KeyHistory key) {
        return key.isParkedOrDead() || (key.has("RECONCILE") && !key.has(Kind.HANDLED));
    }

    private static void judge(KeyHistory front, KeyHistory next, Findings findings) {
        Optional<Event> entered = next.first(Kind.ENTERED);
        if (entered.isEmpty()) {
            return;
        }
        Event done = doneBy(front).orElse(null);
        if (done == null || done.order() > entered.get().order()) {
            findings.violated(
                    Invariant.GROUP_ORDER,
                    next.key(),
                    "handled before " + front.key() + ", which is in front of it, was done",
                    done == null ? List.of(entered.get()) : List.of(entered.get(), done));
        } else if (!front.isInDatabase()) {
            judgeLater(front, done, entered.get(), findings);
        }
    }

    private static void judgeLater(KeyHistory front, Event done, Event entered, Findings findings) {
        front.calls().stream()
                .filter(call -> front.isClaimedAfter(call, entered))
                .filter(call -> !findings.forgotten(front.key(), done, done, call.entered()))
                .forEach(call -> findings.violated(
                        Invariant.GROUP_ORDER,
                        front.key(),
                        "claimed again after the group went on",
                        entered,
                        call.entered()));
    }

    /** Returns the return of the first call that returned; for a row, of the one that committed. */
    private static Optional<Event> doneBy(KeyHistory key) {
        return key.first(Kind.ROW)
                .map(row -> key.all(Kind.HANDLED).filter(event -> event.call().equals(row.call())))
                .orElseGet(() -> key.all(Kind.HANDLED))
                .findFirst();
    }
}
