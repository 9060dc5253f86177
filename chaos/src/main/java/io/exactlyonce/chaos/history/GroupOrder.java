package io.exactlyonce.chaos.history;

import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * Checks message groups of FIFO queues. A message's handler starts after the message in front is done. A message that
 * leaves the queue in another way (into the dead-letter queue, parked or not) delays the later ones for as long as SQS
 * delivers it. If a key is sent several times, the first message counts, because the others come later.
 */
final class GroupOrder {

    private GroupOrder() {}

    static void judge(List<KeyHistory> keys, Findings findings) {
        Map<String, List<KeyHistory>> groups = keys.stream()
                .filter(key -> !key.promise(Detail.GROUP).isEmpty())
                .sorted(Comparator.comparingLong(key -> Long.parseLong(key.promise(Detail.POSITION))))
                .collect(Collectors.groupingBy(key -> key.promise(Detail.GROUP)));
        groups.values().forEach(group -> {
            judgeDone(group.stream().filter(key -> !isPassedOver(key)).toList(), findings);
            judgePassedOver(group, findings);
        });
    }

    private static void judgeDone(List<KeyHistory> group, Findings findings) {
        for (int index = 1; index < group.size(); index++) {
            judge(group.get(index - 1), group.get(index), findings);
        }
    }

    private static void judgePassedOver(List<KeyHistory> group, Findings findings) {
        for (int index = 0; index < group.size(); index++) {
            if (group.get(index).isParkedOrDead()) {
                for (KeyHistory later : group.subList(index + 1, group.size())) {
                    judgePassedOver(group.get(index), later, findings);
                }
            }
        }
    }

    private static void judgePassedOver(KeyHistory front, KeyHistory later, Findings findings) {
        Optional<Event> entered = later.first(Kind.ENTERED);
        Optional<Event> handedOut = front.lastReceiveOfFirstMessage();
        if (entered.isPresent()
                && handedOut.isPresent()
                && entered.get().order() < handedOut.get().order()) {
            findings.violated(
                    Invariant.GROUP_ORDER,
                    later.key(),
                    "handled before " + front.key() + ", which is in front of it, was given up",
                    entered.get(),
                    handedOut.get());
        }
    }

    /** A reconciler may complete a key without its handler, and a message without a key may be skipped. */
    private static boolean isPassedOver(KeyHistory key) {
        return key.isParkedOrDead() || key.isSkipped() || (key.has("RECONCILE") && !key.has(Kind.HANDLED));
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

    /**
     * Returns when the first call that returned did so. For a row, returns when the call that committed it returned.
     */
    private static Optional<Event> doneBy(KeyHistory key) {
        return key.first(Kind.ROW)
                .map(row -> key.all(Kind.HANDLED).filter(event -> event.call().equals(row.call())))
                .orElseGet(() -> key.all(Kind.HANDLED))
                .findFirst();
    }
}
