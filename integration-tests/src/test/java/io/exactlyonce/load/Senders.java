package io.exactlyonce.load;

import io.exactlyonce.testing.SqsServer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;

/** Sends many messages from several threads, ten in each request. */
final class Senders {

    private static final int BATCH = 10;
    private static final int THREADS = 4;

    private Senders() {}

    /** Sends messages numbered from 0, in roughly this order. */
    static void send(SqsServer sqs, String queue, int messages, IntFunction<String> body) throws Exception {
        String url = sqs.urlOf(queue);
        AtomicInteger next = new AtomicInteger();
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        try {
            List<Future<?>> sending = new ArrayList<>();
            for (int thread = 0; thread < THREADS; thread++) {
                sending.add(threads.submit(() -> {
                    for (int from = next.getAndAdd(BATCH); from < messages; from = next.getAndAdd(BATCH)) {
                        send(sqs, url, IntStream.range(from, Math.min(from + BATCH, messages)), body);
                    }
                }));
            }
            for (Future<?> each : sending) {
                each.get();
            }
        } finally {
            threads.shutdownNow();
        }
    }

    private static void send(SqsServer sqs, String url, IntStream numbers, IntFunction<String> body) {
        List<SendMessageBatchRequestEntry> entries = numbers.mapToObj(number -> SendMessageBatchRequestEntry.builder()
                        .id(String.valueOf(number))
                        .messageBody(body.apply(number))
                        .build())
                .toList();
        var answer =
                sqs.client().sendMessageBatch(request -> request.queueUrl(url).entries(entries));
        if (!answer.failed().isEmpty()) {
            throw new IllegalStateException("The SQS server refused messages: " + answer.failed());
        }
    }
}
