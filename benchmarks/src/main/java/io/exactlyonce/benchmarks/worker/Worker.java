package io.exactlyonce.benchmarks.worker;

import io.awspring.cloud.sqs.listener.MessageListenerContainer;
import io.awspring.cloud.sqs.listener.MessageListenerContainerRegistry;
import io.awspring.cloud.sqs.listener.SqsMessageListenerContainer;
import io.exactlyonce.benchmarks.process.Conversation;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.thread.Threading;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.core.task.SimpleAsyncTaskExecutor;

/** An application with one listener, which works only when it is told to. */
@SpringBootConfiguration
@EnableAutoConfiguration
@Import({Tally.class, Work.class, SqsTraffic.class})
public class Worker {

    private static final long LONGEST_SECONDS = 180;

    private final MessageListenerContainerRegistry containers;
    private final Tally tally;
    private final SqsTraffic traffic;

    Worker(MessageListenerContainerRegistry containers, Tally tally, SqsTraffic traffic) {
        this.containers = containers;
        this.tally = tally;
        this.traffic = traffic;
    }

    /**
     * Runs until the benchmarks end.
     *
     * @param arguments of Spring Boot, with {@code bench.protection} among them
     */
    public static void run(String[] arguments) throws Exception {
        Protection protection = Protection.valueOf(System.getProperty("bench.protection", arguments[0]));
        SpringApplication application =
                new SpringApplicationBuilder(Worker.class, protection.listener()).build(arguments);
        try (ConfigurableApplicationContext context = application.run(arguments)) {
            Worker worker = context.getBean(Worker.class);
            worker.chooseThreads(context.getEnvironment());
            Conversation.say("ready");
            Conversation.answer(Drain.class, worker::drain);
        }
    }

    /** Ours choose virtual threads by themselves; the others get the same. */
    private void chooseThreads(Environment environment) {
        if (!Threading.VIRTUAL.isActive(environment)) {
            return;
        }
        for (MessageListenerContainer<?> container : containers.getListenerContainers()) {
            SqsMessageListenerContainer<?> sqs = (SqsMessageListenerContainer<?>) container;
            if (sqs.getContainerOptions().getComponentsTaskExecutor() == null) {
                SimpleAsyncTaskExecutor threads = new SimpleAsyncTaskExecutor("orders-");
                threads.setVirtualThreads(true);
                sqs.configure(options -> options.componentsTaskExecutor(threads));
            }
        }
    }

    private Drain.Result drain(Drain drain) throws InterruptedException {
        tally.begin(drain.orders());
        traffic.begin(drain.messages());
        containers.getListenerContainers().forEach(MessageListenerContainer::start);
        traffic.await(LONGEST_SECONDS);
        containers.getListenerContainers().forEach(MessageListenerContainer::stop);
        return new Drain.Result(
                traffic.rate(), tally.duplicates(), tally.losses(), drain.messages() - traffic.deleted());
    }
}
