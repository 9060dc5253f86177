package io.exactlyonce.testing.wire;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import tools.jackson.databind.node.ObjectNode;

/**
 * Delivers the messages of a queue a second time while they are in flight, each with a valid receipt handle of its
 * own, because a standard queue keeps copies on several servers. The copy comes with the next receive of another
 * caller, or in the same answer.
 */
public final class Twins implements SqsBackend {

    private static final String MARK = "~twin";

    /** A copy for a caller other than the owner of the original. */
    private record Copy(String queue, String caller, ObjectNode message) {

        boolean isFor(SqsCall call) {
            return queue.equals(call.queue()) && !caller.equals(call.caller());
        }
    }

    private final SqsBackend server;
    private final Set<String> apart = ConcurrentHashMap.newKeySet();
    private final Set<String> together = ConcurrentHashMap.newKeySet();
    private final Set<String> twinned = ConcurrentHashMap.newKeySet();
    private final Queue<Copy> copies = new ConcurrentLinkedQueue<>();
    private final AtomicInteger handles = new AtomicInteger();

    public Twins(SqsBackend server) {
        this.server = server;
    }

    /** Delivers each message of a queue twice from now on. The copy goes to another caller. */
    public void apart(String queue) {
        apart.add(queue);
    }

    /** Delivers each message of a queue twice from now on, in one answer. */
    public void together(String queue) {
        together.add(queue);
    }

    /** Stops delivering messages twice. */
    public void none() {
        apart.clear();
        together.clear();
        copies.clear();
    }

    @Override
    public SqsAnswer answer(SqsCall call) {
        if (call.isReceive()) {
            return receive(call);
        }
        if (call.isDelete() || call.isChange()) {
            return server.answer(call.with(call.entries().stream()
                    .map(entry -> SqsCall.withReceiptHandle(entry, original(SqsCall.receiptHandle(entry))))
                    .toList()));
        }
        return server.answer(call);
    }

    private SqsAnswer receive(SqsCall call) {
        for (Copy copy : copies) {
            if (copy.isFor(call) && copies.remove(copy)) {
                return SqsAnswer.ofReceive(List.of(copy.message()));
            }
        }
        SqsAnswer answer = server.answer(call);
        List<ObjectNode> twins = answer.messages().stream()
                .filter(message ->
                        isWanted(call) && twinned.add(message.path("MessageId").asString()))
                .map(this::twin)
                .toList();
        if (apart.contains(call.queue())) {
            twins.forEach(twin -> copies.add(new Copy(call.queue(), call.caller(), twin)));
        }
        if (!together.contains(call.queue()) || twins.isEmpty()) {
            return answer;
        }
        List<ObjectNode> all = new ArrayList<>(answer.messages());
        all.addAll(twins);
        return SqsAnswer.ofReceive(all);
    }

    private boolean isWanted(SqsCall call) {
        return apart.contains(call.queue()) || together.contains(call.queue());
    }

    private ObjectNode twin(ObjectNode message) {
        return SqsCall.withReceiptHandle(message, SqsCall.receiptHandle(message) + MARK + handles.incrementAndGet());
    }

    private static String original(String handle) {
        int mark = handle.indexOf(MARK);
        return mark < 0 ? handle : handle.substring(0, mark);
    }
}
