package io.exactlyonce.testing.wire;

import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * The error with which SQS refuses a request, or an entry of a batch.
 *
 * @param senderFault whether the error blames the caller
 */
public record SqsError(String code, String message, boolean senderFault) {

    /** AWS's error for one entry while the others of its batch succeed. */
    public static final SqsError THROTTLED = new SqsError("RequestThrottled", "The request was denied", true);

    public static final SqsError INTERNAL = new SqsError("InternalError", "We encountered an internal error", false);

    private static final String INVALID_PARAMETER = "InvalidParameterValue";

    static SqsError ofTheSender(String code, String message) {
        return new SqsError(code, message, true);
    }

    static SqsError ofTheHandle(String reason) {
        return ofTheSender(INVALID_PARAMETER, "Value for parameter ReceiptHandle is invalid. Reason: " + reason);
    }

    static SqsError ofTheVisibility(String reason) {
        return ofTheSender(INVALID_PARAMETER, "Value for parameter VisibilityTimeout is invalid. Reason: " + reason);
    }

    /** Returns the failed entry of a batch's answer. */
    static SqsError of(ObjectNode failed) {
        return new SqsError(
                failed.path("Code").asString(""),
                failed.path("Message").asString(""),
                failed.path("SenderFault").asBoolean(true));
    }

    /** Returns whether the receipt handle is unknown to the server. */
    boolean isOfAHandle() {
        return code.contains("ReceiptHandleIsInvalid");
    }

    /** Returns the entry of a batch's answer that contains this error. */
    ObjectNode failed(String id) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("Id", id)
                .put("Code", code)
                .put("Message", message)
                .put("SenderFault", senderFault);
    }
}
