package io.exactlyonce.sample.http;

import java.util.Map;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;

/** Takes payments over HTTP. The application has no listener, and therefore no queue. */
@SpringBootApplication
public class PaymentsApplication {

    /** The starter brings an SQS client, which needs a region even if it is never called. */
    private static final Map<String, Object> DEFAULTS = Map.of("spring.cloud.aws.region.static", "us-east-1");

    /**
     * Starts the application.
     *
     * @param args Spring Boot's arguments
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
