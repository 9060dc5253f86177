package io.exactlyonce.testing;

import java.net.URI;
import java.util.Locale;

/** The SQS server on which tests run, by the system property {@code sqs.server}. */
public enum SqsServerKind {

    /** {@code elasticmq}, the default: in this process. */
    ELASTICMQ,
    /** {@code aws-answers}: ElasticMQ behind {@link io.exactlyonce.testing.wire.AwsAnswers}. */
    AWS_ANSWERS,
    /** {@code aws-weather}: the same, over a network that delays, loses and repeats requests. */
    AWS_WEATHER,
    /** {@code localstack}: in Docker. */
    LOCALSTACK,
    /** {@code aws}: with the default chains of credentials and region. */
    AWS,
    /** An address such as {@code http://localhost:9324}: any server at this address, with arbitrary credentials. */
    ENDPOINT;

    private static final String PROPERTY = "sqs.server";

    static SqsServerKind wanted() {
        String value = value();
        return value.contains("://")
                ? ENDPOINT
                : valueOf(value.toUpperCase(Locale.ROOT).replace('-', '_'));
    }

    /** Returns the address if the kind is one. */
    static URI endpoint() {
        return URI.create(value());
    }

    private static String value() {
        return System.getProperty(PROPERTY, ELASTICMQ.name());
    }
}
