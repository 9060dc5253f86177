package io.exactlyonce.fingerprint;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.stream.Stream;

/**
 * The envelope in which SNS delivers a message to a queue. SNS makes a new envelope for each publication, so the fields
 * that SNS fills are not compared. The fields that the publisher fills are compared: the message, the subject and the
 * topic's name. Fields that no envelope of SNS has are compared as well, because a document of another kind may look
 * like an envelope.
 *
 * <p>The topic's name is compared, because it often says what happened, for example to an order. The region and the
 * account of the topic are not compared, because a publisher may fail over to another region. Message attributes are
 * not compared, because Spring Cloud AWS publishes an ID and a time among them. Message attributes of SQS are not
 * compared either.
 */
final class SnsEnvelope {

    static final byte[] MESSAGE = bytes("\"Message\"");

    private static final byte[] TYPE = bytes("\"Type\"");
    private static final byte[] NOTIFICATION = bytes("\"Type\":\"Notification\"");
    private static final byte[] TOPIC = bytes("\"TopicArn\"");

    private static final byte[][] NOT_COMPARED = Stream.of(
                    "Type",
                    "Message",
                    "MessageId",
                    "SequenceNumber",
                    "Timestamp",
                    "SignatureVersion",
                    "Signature",
                    "SigningCertURL",
                    "UnsubscribeURL",
                    "MessageAttributes")
            .map(name -> bytes('"' + name + '"'))
            .toArray(byte[][]::new);

    /** A byte that does not occur in UTF-8. */
    private static final byte SEPARATOR = (byte) 0xFF;

    private SnsEnvelope() {}

    private static byte[] bytes(String ascii) {
        return ascii.getBytes(StandardCharsets.US_ASCII);
    }

    /** Returns whether a document is an envelope. */
    static boolean isOne(CanonicalJson json) {
        return json.isField(json.only(TYPE), NOTIFICATION)
                && json.isText(json.only(TOPIC))
                && json.isText(json.only(MESSAGE));
    }

    /**
     * Digests the fields of an envelope that the publisher fills, except the message. The caller then digests the
     * message.
     */
    static void addTo(MessageDigest digest, CanonicalJson json) {
        digest.update(SEPARATOR);
        for (int place = 0; place < json.size(); place++) {
            int field = json.field(place);
            if (json.isNamed(field, TOPIC)) {
                json.addAfterColon(field, digest);
                digest.update(SEPARATOR);
            } else if (isCompared(json, field)) {
                json.addField(field, digest);
                digest.update(SEPARATOR);
            }
        }
        digest.update(SEPARATOR);
    }

    private static boolean isCompared(CanonicalJson json, int field) {
        for (byte[] name : NOT_COMPARED) {
            if (json.isNamed(field, name)) {
                return false;
            }
        }
        return true;
    }
}
