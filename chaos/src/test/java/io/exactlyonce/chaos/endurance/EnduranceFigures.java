package io.exactlyonce.chaos.endurance;

import io.exactlyonce.chaos.history.Detail;
import io.exactlyonce.chaos.history.Event;
import io.exactlyonce.chaos.history.History;
import io.exactlyonce.chaos.history.Kind;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * The cost of a run.
 *
 * @param receives how often each message was received, ascending
 * @param messageMinutes time from first receive to confirmed delete, of all messages
 * @param requests SQS requests of all workers by type
 */
record EnduranceFigures(long[] receives, double messageMinutes, Map<String, Long> requests) {

    static EnduranceFigures of(History history, Collection<Properties> workers) {
        Map<String, Long> receives = new HashMap<>();
        Map<String, Long> firstReceives = new HashMap<>();
        double micros = 0;
        for (Event event : history.events()) {
            String message = event.detail(Detail.MESSAGE);
            if (event.kind() == Kind.RECEIVED) {
                receives.merge(message, event.number(Detail.RECEIVES), Math::max);
                firstReceives.putIfAbsent(message, event.micros());
            } else if (event.kind() == Kind.ACKNOWLEDGED) {
                micros += event.micros() - firstReceives.get(message);
            }
        }
        Map<String, Long> requests = workers.stream()
                .flatMap(counts -> counts.stringPropertyNames().stream()
                        .map(name -> Map.entry(name, Long.parseLong(counts.getProperty(name)))))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue, Long::sum));
        return new EnduranceFigures(
                receives.values().stream().mapToLong(Long::longValue).sorted().toArray(), micros / 60e6, requests);
    }

    private long percentile(double part) {
        return receives[(int) Math.ceil(part * receives.length) - 1];
    }

    long mostReceives() {
        return percentile(1);
    }

    long receivedOnce() {
        return LongStream.of(receives).filter(times -> times == 1).count();
    }

    private long renewalRequests() {
        return requests.getOrDefault("ChangeMessageVisibilityBatchRequest", 0L)
                + requests.getOrDefault("ChangeMessageVisibilityRequest", 0L);
    }

    private long renewedMessages() {
        return requests.getOrDefault(RecordingSqs.RENEWED, 0L);
    }

    /** Returns the number of requests that change visibility, relative to one request for each renewal of a message. */
    double ratioToTimers() {
        return (double) renewalRequests() / renewedMessages();
    }

    @Override
    public String toString() {
        return ("ENDURANCE messages=%d receives median=%d p99=%d max=%d (maxReceiveCount=%d) received once=%d"
                        + " | message-minutes=%.1f visibility requests=%d (%.2f a message-minute)"
                        + " one timer per message=%d (%.2f) ratio=%.0f %% | %s")
                .formatted(
                        receives.length,
                        percentile(0.5),
                        percentile(0.99),
                        mostReceives(),
                        EnduranceServers.MAX_RECEIVES,
                        receivedOnce(),
                        messageMinutes,
                        renewalRequests(),
                        renewalRequests() / messageMinutes,
                        renewedMessages(),
                        renewedMessages() / messageMinutes,
                        100 * ratioToTimers(),
                        requests);
    }
}
