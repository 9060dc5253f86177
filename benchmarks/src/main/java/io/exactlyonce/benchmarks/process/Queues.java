package io.exactlyonce.benchmarks.process;

import io.exactlyonce.servers.LocalSqs;
import java.io.IOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;

/** An SQS server in a separate process, and its queues. */
public final class Queues implements AutoCloseable {

    private static final int BATCH = 10;
    private static final int SENDERS = 4;

    private final ChildJvm server;
    private final int port;
    private final SqsClient client;

    /** Starts the server. */
    public Queues() throws IOException {
        this.server = ChildJvm.start(Role.SQS, List.of());
        this.port = server.hear(Integer.class);
        this.client = SqsClient.builder()
                .endpointOverride(endpoint(port))
                .region(Region.US_EAST_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("x", "x")))
                .build();
    }

    /** Returns the port on which the server listens. */
    public int port() {
        return port;
    }

    static URI endpoint(int port) {
        return LocalSqs.endpoint(port);
    }

    /** Creates a standard queue. */
    public void create(String name, int windowSeconds) {
        client.createQueue(request -> request.queueName(name)
                .attributes(Map.of(QueueAttributeName.VISIBILITY_TIMEOUT, String.valueOf(windowSeconds))));
    }

    /** Sends messages approximately in this order. */
    public void send(String queue, List<String> bodies) throws Exception {
        String url = client.getQueueUrl(request -> request.queueName(queue)).queueUrl();
        ExecutorService senders = Executors.newFixedThreadPool(SENDERS);
        try {
            List<Future<?>> sent = new ArrayList<>();
            for (int from = 0; from < bodies.size(); from += BATCH) {
                List<String> batch = bodies.subList(from, Math.min(bodies.size(), from + BATCH));
                sent.add(senders.submit(() -> sendBatch(url, batch)));
            }
            for (Future<?> batch : sent) {
                batch.get();
            }
        } finally {
            senders.shutdownNow();
        }
    }

    private void sendBatch(String url, List<String> bodies) {
        List<SendMessageBatchRequestEntry> entries = new ArrayList<>();
        for (String body : bodies) {
            entries.add(SendMessageBatchRequestEntry.builder()
                    .id(String.valueOf(entries.size()))
                    .messageBody(body)
                    .build());
        }
        var response = client.sendMessageBatch(request -> request.queueUrl(url).entries(entries));
        if (!response.failed().isEmpty()) {
            throw new IllegalStateException("The SQS server refused messages: " + response.failed());
        }
    }

    @Override
    public void close() throws IOException {
        client.close();
        server.close();
    }
}
