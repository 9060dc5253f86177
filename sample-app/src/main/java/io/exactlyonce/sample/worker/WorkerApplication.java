package io.exactlyonce.sample.worker;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;

/** Fulfils orders from an SQS queue. Profile {@code naive} or {@code exactly-once} says how. */
@SpringBootApplication
@ConfigurationPropertiesScan
public class WorkerApplication {

    /**
     * Starts it.
     *
     * @param args as every Spring Boot application takes them
     */
    public static void main(String[] args) {
        SpringApplication.run(WorkerApplication.class, args);
    }
}
