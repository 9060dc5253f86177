package io.exactlyonce.listener;

import io.awspring.cloud.sqs.listener.SqsHeaders;
import io.awspring.cloud.sqs.listener.interceptor.MessageInterceptor;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Set;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.springframework.messaging.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/** The example of SECURITY.md, word for word. */
// tag::example
class SignedKeys implements MessageInterceptor<Object> {

    private final SecretKeySpec secret;
    private final Set<String> queues;

    SignedKeys(byte[] secret, Set<String> queues) {
        this.secret = new SecretKeySpec(secret, "HmacSHA256");
        this.queues = queues;
    }

    @Override
    public Message<Object> intercept(Message<Object> message) {
        String queue = message.getHeaders().get(SqsHeaders.SQS_QUEUE_NAME_HEADER, String.class);
        if (queues.contains(queue)) {
            require(queue, message.getHeaders().get(SqsHeaders.SQS_SOURCE_DATA_HEADER));
        }
        return message;
    }

    private void require(String queue, Object source) {
        var received = (software.amazon.awssdk.services.sqs.model.Message) source;
        String key = attribute(received, "ExactlyOnce-Key");
        String signature = attribute(received, "ExactlyOnce-Signature");
        byte[] expected = sign(queue, key, received.body()).getBytes(StandardCharsets.US_ASCII);
        if (!MessageDigest.isEqual(expected, signature.getBytes(StandardCharsets.UTF_8))) {
            throw new SecurityException("Key and body are not signed for queue " + queue);
        }
    }

    private static String attribute(software.amazon.awssdk.services.sqs.model.Message received, String name) {
        MessageAttributeValue value = received.messageAttributes().get(name);
        return value == null || value.stringValue() == null ? "" : value.stringValue();
    }

    /** Returns the attribute ExactlyOnce-Signature. SQS rejects NUL, so no character can move between the parts. */
    String sign(String queue, String key, String body) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(secret);
            byte[] signed = (queue + '\0' + key + '\0' + body).getBytes(StandardCharsets.UTF_8);
            return HexFormat.of().formatHex(mac.doFinal(signed));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }
}
// end::example
