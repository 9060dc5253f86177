package io.exactlyonce.sample.lab;

import io.exactlyonce.sample.worker.Order;
import io.exactlyonce.servers.LocalSqs;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchResponse;
import tools.jackson.databind.json.JsonMapper;

/** A real SQS server in this process. Each side has two standard queues: orders, and their shipments. */
public final class Queues implements AutoCloseable {

    private static final int BATCH = 10;
    private static final String PAYOUTS = "payouts";
    private static final String DEAD_PAYOUTS = "payouts-dlq";
    private static final String MOST_RECEIVES = "5";
    private static final List<QueueAttributeName> COUNTS = List.of(
            QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES,
            QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE,
            QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_DELAYED);

    private final LocalSqs server;
    private final SqsClient client;

    private Queues(LocalSqs server) {
        this.server = server;
        this.client = LocalSqs.client(server.getEndpoint());
    }

    /** Starts the server, and creates queues with this visibility timeout. */
    public static Queues start(Duration visibilityTimeout) {
        Queues queues = new Queues(LocalSqs.start());
        for (Kind kind : Kind.values()) {
            queues.create(kind.label(), visibilityTimeout);
            queues.create(shipments(kind), visibilityTimeout);
        }
        return queues;
    }

    /** Changes the visibility timeout of both queues, for messages that are received from now on. */
    public void setVisibilityTimeout(Duration visibilityTimeout) {
        for (Kind kind : Kind.values()) {
            client.setQueueAttributes(request -> request.queueUrl(url(kind)).attributes(attributes(visibilityTimeout)));
        }
    }

    URI endpoint() {
        return server.getEndpoint();
    }

    /** Returns a worker's settings for its queue, as environment variables of Spring Boot. */
    public Map<String, String> environment(Kind kind) {
        return Map.of(
                "SPRING_CLOUD_AWS_SQS_ENDPOINT",
                endpoint().toString(),
                "ORDERS_QUEUE",
                kind.label(),
                "ORDERS_SHIPMENTS",
                shipments(kind));
    }

    /** Sends orders to one side. */
    public void send(Kind kind, List<Order> orders) {
        for (int from = 0; from < orders.size(); from += BATCH) {
            sendBatch(kind, orders.subList(from, Math.min(orders.size(), from + BATCH)));
        }
    }

    /** Creates the queue of payouts with a dead-letter queue. Returns a worker's settings for it. */
    public Map<String, String> createPayouts(Duration visibilityTimeout) {
        String deadLetters =
                client.createQueue(request -> request.queueName(DEAD_PAYOUTS)).queueUrl();
        String arn = client.getQueueAttributes(
                        request -> request.queueUrl(deadLetters).attributeNames(QueueAttributeName.QUEUE_ARN))
                .attributes()
                .get(QueueAttributeName.QUEUE_ARN);
        client.createQueue(request -> request.queueName(PAYOUTS)
                .attributes(Map.of(
                        QueueAttributeName.VISIBILITY_TIMEOUT,
                        Long.toString(visibilityTimeout.toSeconds()),
                        QueueAttributeName.REDRIVE_POLICY,
                        "{\"deadLetterTargetArn\":\"%s\",\"maxReceiveCount\":\"%s\"}".formatted(arn, MOST_RECEIVES))));
        return Map.of("ORDERS_PAYOUTS", PAYOUTS);
    }

    /** Sends a payout. Only the exactly-once side listens to payouts. */
    public void sendPayout(Order payout) {
        client.sendMessage(request -> request.queueUrl(
                        client.getQueueUrl(queue -> queue.queueName(PAYOUTS)).queueUrl())
                .messageBody(JsonMapper.shared().writeValueAsString(payout)));
    }

    /** Returns the number of messages in a side's two queues: waiting, in flight or delayed. */
    public long size(Kind kind) {
        return size(kind.label()) + size(shipments(kind));
    }

    private long size(String queue) {
        return client
                .getQueueAttributes(request -> request.queueUrl(url(queue)).attributeNames(COUNTS))
                .attributes()
                .values()
                .stream()
                .mapToLong(Long::parseLong)
                .sum();
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }

    /** Returns the name of a side's shipment queue. */
    static String shipments(Kind kind) {
        return kind.label() + "-shipments";
    }

    private void create(String queue, Duration visibilityTimeout) {
        client.createQueue(request -> request.queueName(queue).attributes(attributes(visibilityTimeout)));
    }

    private static Map<QueueAttributeName, String> attributes(Duration visibilityTimeout) {
        return Map.of(QueueAttributeName.VISIBILITY_TIMEOUT, Long.toString(visibilityTimeout.toSeconds()));
    }

    private void sendBatch(Kind kind, List<Order> orders) {
        List<SendMessageBatchRequestEntry> entries = new ArrayList<>();
        for (Order order : orders) {
            entries.add(SendMessageBatchRequestEntry.builder()
                    .id(order.orderId())
                    .messageBody(JsonMapper.shared().writeValueAsString(order))
                    .build());
        }
        SendMessageBatchResponse response =
                client.sendMessageBatch(request -> request.queueUrl(url(kind)).entries(entries));
        if (response.hasFailed() && !response.failed().isEmpty()) {
            throw new IllegalStateException("The SQS server refused orders: " + response.failed());
        }
    }

    private String url(Kind kind) {
        return url(kind.label());
    }

    private String url(String queue) {
        return client.getQueueUrl(request -> request.queueName(queue)).queueUrl();
    }
}
