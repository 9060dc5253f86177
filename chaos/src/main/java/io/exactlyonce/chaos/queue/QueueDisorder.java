package io.exactlyonce.chaos.queue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;

/**
 * Simulates the disorder of standard queues on AWS, which emulators lack. Messages arrive in another order. Some
 * messages are also delivered to a second consumer while the first one has them, with the same id and receipt handle.
 */
public final class QueueDisorder {

    private static final int REMEMBERED = 20;

    private final Random random;
    private final double duplicates;
    private final Map<String, Deque<JsonNode>> recent = new HashMap<>();
    private volatile boolean calm;

    /**
     * Makes a queue's disorder, drawn from a seed.
     *
     * @param duplicates the share of receives that deliver a message a second time
     */
    public QueueDisorder(long seed, double duplicates) {
        this.random = new Random(seed);
        this.duplicates = duplicates;
    }

    /** Stops the disorder. */
    public void calm() {
        calm = true;
    }

    /** @param most the number of messages that the consumer requested */
    synchronized ArrayNode disturb(String queue, ArrayNode messages, int most) {
        if (calm || queue.endsWith(".fifo")) {
            return messages;
        }
        List<JsonNode> given = new ArrayList<>();
        messages.forEach(given::add);
        Deque<JsonNode> earlier = recent.computeIfAbsent(queue, any -> new ArrayDeque<>());
        if (!earlier.isEmpty() && given.size() < most && random.nextDouble() < duplicates) {
            given.add(earlier.removeFirst());
        }
        earlier.addAll(given);
        while (earlier.size() > REMEMBERED) {
            earlier.removeFirst();
        }
        Collections.shuffle(given, random);
        return JsonMapper.shared().createArrayNode().addAll(given);
    }
}
