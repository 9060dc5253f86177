package io.exactlyonce.testing.wire;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * An answer in SQS's JSON protocol.
 *
 * @param status the HTTP status; 0 closes the connection without an answer
 * @param error the value of the header {@code x-amzn-query-error}; empty without an error
 * @param sending how the answer is sent, if not in SQS's way
 */
public record SqsAnswer(
        int status, ObjectNode body, String error, @Nullable Sending sending) {

    /** Ways to send an answer that break the rules of HTTP or SQS. */
    @FunctionalInterface
    interface Sending {

        /** Sends the answer or a part of it. Any remaining part is never sent. */
        void send(HttpExchange exchange, byte[] text) throws IOException;
    }

    /** The caller sees a closed connection, and not the result. */
    public static final SqsAnswer LOST = new SqsAnswer(0, JsonNodeFactory.instance.objectNode(), "");

    private static final int OK = 200;
    private static final int BAD_REQUEST = 400;
    private static final String ATTRIBUTES = "Attributes";
    private static final String MESSAGES = "Messages";
    private static final String FAILED = "Failed";
    private static final String SUCCESSFUL = "Successful";

    public SqsAnswer(int status, ObjectNode body, String error) {
        this(status, body, error, null);
    }

    /** Returns the same answer, sent in another way. */
    SqsAnswer sentBy(Sending other) {
        return new SqsAnswer(status, body, error, other);
    }

    static SqsAnswer ok(ObjectNode body) {
        return new SqsAnswer(OK, body, "");
    }

    static SqsAnswer refused(SqsError error) {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        body.put("__type", "com.amazonaws.sqs#" + error.code()).put("message", error.message());
        return new SqsAnswer(BAD_REQUEST, body, error.code() + (error.senderFault() ? ";Sender" : ";Receiver"));
    }

    /** Returns the answer to a batch. */
    static SqsAnswer ofBatch(Collection<String> successful, Collection<ObjectNode> failed) {
        ObjectNode body = JsonNodeFactory.instance.objectNode();
        ArrayNode granted = body.putArray(SUCCESSFUL);
        successful.forEach(id -> granted.addObject().put("Id", id));
        body.putArray(FAILED).addAll(failed);
        return ok(body);
    }

    /** Returns the answer to a receive. */
    static SqsAnswer ofReceive(List<ObjectNode> messages) {
        return ok(JsonNodeFactory.instance.objectNode()).with(messages);
    }

    boolean isOk() {
        return status == OK;
    }

    boolean isLost() {
        return status == LOST.status;
    }

    /** Returns the entries of a batch that failed. */
    List<ObjectNode> failed() {
        return SqsCall.objects(body.path(FAILED));
    }

    /** Returns the messages of a receive. */
    List<ObjectNode> messages() {
        return SqsCall.objects(body.path(MESSAGES));
    }

    /** Returns an attribute of a queue. */
    Optional<String> attribute(String name) {
        return body.path(ATTRIBUTES).path(name).asStringOpt();
    }

    /** Adds an attribute of a queue, if it is not there. */
    void addAttribute(String name, String value) {
        ObjectNode attributes = body.withObjectProperty(ATTRIBUTES);
        if (!attributes.has(name)) {
            attributes.put(name, value);
        }
    }

    /** Returns the same receive with other messages. */
    SqsAnswer with(List<ObjectNode> messages) {
        ObjectNode changed = body.deepCopy();
        changed.putArray(MESSAGES).addAll(messages);
        return new SqsAnswer(status, changed, error);
    }
}
