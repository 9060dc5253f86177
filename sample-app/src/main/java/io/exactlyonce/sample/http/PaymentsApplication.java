package io.exactlyonce.sample.http;

import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Takes payments over HTTP. It has no listener, and so no queue. */
@SpringBootApplication
public class PaymentsApplication {

    /** The starter brings an SQS client, which wants a region even where it is never called. */
    private static final Map<String, Object> DEFAULTS = Map.of("spring.cloud.aws.region.static", "us-east-1");

    /**
     * Starts it.
     *
     * @param args as every Spring Boot application takes them
     */
    public static void main(String[] args) {
        application().run(args);
    }

    static SpringApplication application() {
        SpringApplication application = new SpringApplication(PaymentsApplication.class);
        application.setDefaultProperties(DEFAULTS);
        return application;
    }
}
