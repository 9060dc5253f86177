package io.exactlyonce.sample.worker;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;

/** Fulfils orders from an SQS queue. The profile {@code naive} or {@code exactly-once} chooses the listeners. */
@SpringBootApplication
@ConfigurationPropertiesScan
public class WorkerApplication {

    /**
     * Starts the application.
     *
     * @param args Spring Boot's arguments
     */
    public static void main(String[] args) {
        SpringApplication.run(WorkerApplication.class, args);
    }
}
