package io.exactlyonce.chaos.queue;

import io.exactlyonce.chaos.history.Detail;
import io.exactlyonce.chaos.history.Event;
import io.exactlyonce.chaos.history.Kind;
import io.exactlyonce.chaos.history.Recorder;
import io.exactlyonce.servers.LocalSqs;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;

/** The harness's own connection to the queues, without a wire. */
public final class Queues implements AutoCloseable {

    private static final int MOST_RECEIVES = 8;
    private static final int MOST_RECEIVED = 10;
    /** The time for which dead letters are hidden after the harness looked at them. */
    private static final String LOOKED_AT_SECONDS = "2";

    private static final List<QueueAttributeName> COUNTS = List.of(
            QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES,
            QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE,
            QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_DELAYED);

    private final SqsClient client;
    private final Recorder recorder;
    private final Map<String, String> urls = new ConcurrentHashMap<>();

    public Queues(int port, Recorder recorder) {
        this.recorder = recorder;
        this.client = LocalSqs.client(LocalSqs.endpoint(port));
    }

    /** Creates all queues with a visibility timeout, and a dead-letter queue for each. */
    public void create(Duration visibilityTimeout) {
        for (Stream stream : Stream.values()) {
            Map<QueueAttributeName, String> attributes = new HashMap<>();
            if (stream.isFifo()) {
                attributes.put(QueueAttributeName.FIFO_QUEUE, "true");
            }
            attributes.put(QueueAttributeName.VISIBILITY_TIMEOUT, LOOKED_AT_SECONDS);
            client.createQueue(
                    request -> request.queueName(stream.deadLetters()).attributes(Map.copyOf(attributes)));
            attributes.put(QueueAttributeName.VISIBILITY_TIMEOUT, String.valueOf(visibilityTimeout.toSeconds()));
            attributes.put(
                    QueueAttributeName.REDRIVE_POLICY,
                    "{\"deadLetterTargetArn\":\"%s\",\"maxReceiveCount\":%d}"
                            .formatted(arn(stream.deadLetters()), MOST_RECEIVES));
            client.createQueue(request -> request.queueName(stream.queue()).attributes(attributes));
        }
    }

    /** Sends at most ten messages to one queue, and records them. */
    public void send(Stream stream, List<TestMessage> messages) {
        List<SendMessageBatchRequestEntry> entries = new ArrayList<>();
        for (TestMessage message : messages) {
            recorder.record(sending(message));
            SendMessageBatchRequestEntry.Builder entry = SendMessageBatchRequestEntry.builder()
                    .id(String.valueOf(entries.size()))
                    .messageBody(message.body());
            if (stream.isFifo()) {
                entry.messageGroupId(message.group())
                        .messageDeduplicationId(UUID.randomUUID().toString());
            }
            entries.add(entry.build());
        }
        String url = url(stream.queue());
        int failed = client.sendMessageBatch(request -> request.queueUrl(url).entries(entries))
                .failed()
                .size();
        if (failed > 0) {
            throw new IllegalStateException("The SQS server refused %d messages".formatted(failed));
        }
        messages.forEach(message -> recorder.record(Event.of(Kind.SENT).on(message.key())));
    }

    private static Event sending(TestMessage message) {
        Event event = Event.of(Kind.SENDING)
                .on(message.key())
                .with(Detail.EFFECTS, message.stream().effects())
                .with(Detail.POLICY, message.stream().policy())
                .with(Detail.PARTNER, message.stream().partner())
                .with(Detail.ACTION, message.stream() == Stream.ERRANDS)
                .with(Detail.FOLLOWED, message.stream().isFollowed());
        if (message.stream().maxAttempts() > 0) {
            event = event.with(Detail.MAX_ATTEMPTS, message.stream().maxAttempts());
        }
        if (message.body().contains("\"KEYLESS\"")) {
            event = event.with(Detail.WHEN_KEY_MISSING, message.stream().whenKeyMissing());
        }
        return message.group().isEmpty()
                ? event
                : event.with(Detail.GROUP, message.group()).with(Detail.POSITION, message.position());
    }

    /** Returns the number of messages in all queues, visible or not, without dead letters. */
    public int size() {
        int size = 0;
        for (Stream stream : Stream.values()) {
            size += size(stream.queue());
        }
        return size;
    }

    private int size(String queue) {
        return client
                .getQueueAttributes(request -> request.queueUrl(url(queue)).attributeNames(COUNTS))
                .attributes()
                .values()
                .stream()
                .mapToInt(Integer::parseInt)
                .sum();
    }

    /**
     * Takes all dead letters out of their queues, including those that {@link #redrive} has just seen. Returns their
     * bodies.
     */
    public List<String> takeDeadLetters() {
        List<String> bodies = new ArrayList<>();
        for (Stream stream : Stream.values()) {
            String url = url(stream.deadLetters());
            while (size(stream.deadLetters()) > 0) {
                for (Message message : receive(url)) {
                    bodies.add(message.body());
                    client.deleteMessage(request -> request.queueUrl(url).receiptHandle(message.receiptHandle()));
                }
            }
        }
        return bodies;
    }

    /**
     * Sends a queue's dead letters back to the queue, except for messages that would only fail again. Returns the
     * number of messages.
     */
    public int redrive(Stream stream) {
        String from = url(stream.deadLetters());
        String to = url(stream.queue());
        int redriven = 0;
        for (List<Message> messages = receive(from); !messages.isEmpty(); messages = receive(from)) {
            for (Message message : messages) {
                if (message.body().contains("\"GOOD\"")) {
                    client.sendMessage(request -> request.queueUrl(to).messageBody(message.body()));
                    client.deleteMessage(request -> request.queueUrl(from).receiptHandle(message.receiptHandle()));
                    redriven++;
                }
            }
        }
        return redriven;
    }

    private List<Message> receive(String url) {
        return client.receiveMessage(request -> request.queueUrl(url).maxNumberOfMessages(MOST_RECEIVED))
                .messages();
    }

    private String arn(String queue) {
        String arn = client.getQueueAttributes(
                        request -> request.queueUrl(url(queue)).attributeNames(QueueAttributeName.QUEUE_ARN))
                .attributes()
                .get(QueueAttributeName.QUEUE_ARN);
        return String.valueOf(arn);
    }

    private String url(String queue) {
        return urls.computeIfAbsent(
                queue,
                name -> client.getQueueUrl(request -> request.queueName(name)).queueUrl());
    }

    @Override
    public void close() {
        client.close();
    }
}
