package io.exactlyonce.testing.wire;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Forwards requests, and applies a {@link Trouble} to those that a test chose by queue and action. For a receive, only
 * an answer with messages counts.
 */
public final class Troubles implements SqsBackend {

    private final SqsBackend server;
    private final Map<String, Queue<Trouble>> next = new ConcurrentHashMap<>();
    private final Map<String, Trouble> always = new ConcurrentHashMap<>();
    private final List<SqsCall> calls = new CopyOnWriteArrayList<>();

    public Troubles(SqsBackend server) {
        this.server = server;
    }

    /** Applies a fault to the next request of a queue. Faults of later calls apply to later requests, one by one. */
    public void next(String queue, String action, Trouble trouble) {
        next.computeIfAbsent(queue + " " + action, unknown -> new ConcurrentLinkedQueue<>())
                .add(trouble);
    }

    /** Applies a fault to every request of a queue that has no other fault. */
    public void always(String queue, String action, Trouble trouble) {
        always.put(queue + " " + action, trouble);
    }

    /** Removes all faults. Returns how many faults for a next request were not applied. */
    public int none() {
        int unmet = next.values().stream().mapToInt(Queue::size).sum();
        next.clear();
        always.clear();
        return unmet;
    }

    /** Removes the faults of a queue. */
    public void none(String queue) {
        next.keySet().removeIf(key -> key.startsWith(queue + " "));
        always.keySet().removeIf(key -> key.startsWith(queue + " "));
    }

    /** Returns the requests of a queue that have come so far, with an action. */
    public List<SqsCall> calls(String queue, String action) {
        return calls.stream()
                .filter(call -> call.queue().equals(queue) && call.action().equals(action))
                .toList();
    }

    @Override
    public SqsAnswer answer(SqsCall call) {
        calls.add(call);
        if (!call.isReceive()) {
            return trouble(call).map(trouble -> trouble.meet(call, server)).orElseGet(() -> server.answer(call));
        }
        SqsAnswer answer = server.answer(call);
        return answer.messages().isEmpty()
                ? answer
                : trouble(call)
                        .map(trouble -> trouble.meet(call, asked -> answer))
                        .orElse(answer);
    }

    private Optional<Trouble> trouble(SqsCall call) {
        String key = call.queue() + " " + call.action();
        Queue<Trouble> queued = next.get(key);
        Trouble trouble = queued == null ? null : queued.poll();
        return Optional.ofNullable(trouble == null ? always.get(key) : trouble);
    }
}
