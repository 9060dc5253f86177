package io.exactlyonce.fingerprint;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.stream.Stream;

/**
 * The JSON envelope in which SNS delivers a message to a queue. If a publisher sends a message twice, the two envelopes
 * have different IDs, times and signatures, so these three are not compared.
 *
 * <p>Message, subject and the topic's name are compared. The topic's name belongs to the content, because it often says
 * what happened (for example {@code order-cancelled}). Fields that SNS never writes are compared, too: a document that
 * has them is no envelope of SNS.
 *
 * <p>The topic's region and account are not compared, because a publisher may fail over to another region. Message
 * attributes are not compared, because Spring Cloud AWS adds an ID and a time to them.
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
     * Digests the fields that are compared, but not the message in the envelope. The caller digests the message next.
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
