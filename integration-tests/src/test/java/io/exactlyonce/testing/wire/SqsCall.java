package io.exactlyonce.testing.wire;

import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A request in SQS's JSON protocol.
 *
 * @param action such as {@code ReceiveMessage}
 * @param caller the access key that signs it
 */
public record SqsCall(String action, String caller, ObjectNode body) {

    private static final String BATCH = "Batch";
    private static final String ENTRIES = "Entries";
    private static final String QUEUE_URL = "QueueUrl";
    private static final String RECEIPT_HANDLE = "ReceiptHandle";

    String queueUrl() {
        return body.path(QUEUE_URL).asString("");
    }

    /** Returns the queue's name. */
    String queue() {
        return queueUrl().substring(queueUrl().lastIndexOf('/') + 1);
    }

    boolean isOfFifoQueue() {
        return queueUrl().endsWith(".fifo");
    }

    boolean isReceive() {
        return action.equals("ReceiveMessage");
    }

    boolean isBatch() {
        return action.endsWith(BATCH);
    }

    /** Returns whether this call deletes messages: one, or a batch. */
    boolean isDelete() {
        return action.startsWith("DeleteMessage");
    }

    /** Returns whether the call changes the visibility of one message, or of a batch. */
    boolean isChange() {
        return action.startsWith("ChangeMessageVisibility");
    }

    /** Returns the entries of a batch. */
    List<ObjectNode> entries() {
        return objects(body.path(ENTRIES));
    }

    /** Returns the receipt handles in a batch. */
    public List<String> receiptHandles() {
        return entries().stream().map(SqsCall::receiptHandle).toList();
    }

    static String receiptHandle(ObjectNode entry) {
        return entry.path(RECEIPT_HANDLE).asString("");
    }

    static String id(ObjectNode entry) {
        return entry.path("Id").asString("");
    }

    static ObjectNode withReceiptHandle(ObjectNode entry, String handle) {
        return entry.deepCopy().put(RECEIPT_HANDLE, handle);
    }

    /** Returns a request for one message as a batch of one. */
    SqsCall asBatch() {
        ObjectNode entry = body.deepCopy();
        entry.remove(QUEUE_URL);
        ObjectNode batch = JsonNodeFactory.instance.objectNode().put(QUEUE_URL, queueUrl());
        batch.putArray(ENTRIES).add(entry.put("Id", "0"));
        return new SqsCall(action + BATCH, caller, batch);
    }

    /** Returns the same batch with other entries. */
    SqsCall with(List<ObjectNode> entries) {
        ObjectNode changed = body.deepCopy();
        changed.putArray(ENTRIES).addAll(entries);
        return new SqsCall(action, caller, changed);
    }

    static List<ObjectNode> objects(JsonNode array) {
        return array.valueStream().map(ObjectNode.class::cast).toList();
    }
}
