package io.exactlyonce.test.kit;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;

/** A message in its queue. */
final class Letter {

    private final TestMessage message;
    private final String queue;
    private final String body;
    private final String id = UUID.randomUUID().toString();
    private int receives;
    private boolean deleted;
    private long visibleAt;

    Letter(TestMessage message, String queue, String body) {
        this.message = message;
        this.queue = queue;
        this.body = body;
    }

    TestMessage message() {
        return message;
    }

    String queue() {
        return queue;
    }

    String body() {
        return body;
    }

    String id() {
        return id;
    }

    /** Counts a receive, and returns the new receive count. */
    synchronized int receive() {
        receives++;
        return receives;
    }

    /** Hides the message until a time of the test's clock. */
    synchronized void hideUntil(long time) {
        visibleAt = time;
    }

    synchronized Duration hiddenAt(long now) {
        return Duration.ofNanos(Math.max(0, visibleAt - now));
    }

    synchronized void delete() {
        deleted = true;
    }

    synchronized boolean isDeleted() {
        return deleted;
    }

    /** Returns the message as an SQS client receives it. */
    Message received(String receiptHandle, int receiveCount) {
        Map<MessageSystemAttributeName, String> attributes = new LinkedHashMap<>();
        attributes.put(MessageSystemAttributeName.APPROXIMATE_RECEIVE_COUNT, Integer.toString(receiveCount));
        attributes.put(MessageSystemAttributeName.SENT_TIMESTAMP, "0");
        attributes.put(MessageSystemAttributeName.APPROXIMATE_FIRST_RECEIVE_TIMESTAMP, "0");
        attributes.put(MessageSystemAttributeName.SENDER_ID, "test");
        message.group().ifPresent(group -> {
            attributes.put(MessageSystemAttributeName.MESSAGE_GROUP_ID, group);
            attributes.put(MessageSystemAttributeName.MESSAGE_DEDUPLICATION_ID, id);
            attributes.put(MessageSystemAttributeName.SEQUENCE_NUMBER, "0");
        });
        return Message.builder()
                .messageId(id)
                .receiptHandle(receiptHandle)
                .body(body)
                .attributes(attributes)
                .messageAttributes(message.attributes())
                .build();
    }
}
