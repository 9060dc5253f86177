package io.exactlyonce.dynamodb.item;

import java.security.SecureRandom;
import java.util.HexFormat;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Values of attributes. */
final class Values {

    private static final SecureRandom RANDOM = new SecureRandom();

    private Values() {}

    static AttributeValue text(String value) {
        return AttributeValue.fromS(value);
    }

    static AttributeValue number(long value) {
        return AttributeValue.fromN(Long.toString(value));
    }

    static AttributeValue flag(boolean value) {
        return AttributeValue.fromBool(value);
    }

    /** Returns a mark that no other write has: 16 hexadecimal digits, also where a JVM is a copy of another. */
    static String newMark() {
        return HexFormat.of().toHexDigits(RANDOM.nextLong());
    }
}
