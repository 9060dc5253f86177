package shop;

import io.exactlyonce.servers.ExactlyOnceServers;
import org.springframework.boot.SpringApplication;

/** The application with a PostgreSQL and an SQS server for development. */
class TestShop {

    public static void main(String[] args) {
        SpringApplication.from(Shop::main).with(ExactlyOnceServers.class).run(args);
    }
}
