package smoke;

import static io.exactlyonce.Effects.DATABASE;

import io.exactlyonce.ClaimMode;
import io.exactlyonce.ExactlyOnceListener;
import java.util.List;
import org.springframework.stereotype.Component;

record Order(String orderId) {}

@Component
class Listeners {

    private final Effects effects;

    Listeners(Effects effects) {
        this.effects = effects;
    }

    @ExactlyOnceListener(id = "single", queueNames = "single", key = "#order.orderId")
    void single(Order order) {
        effects.save(new Effect("single", order));
    }

    @ExactlyOnceListener(id = "batch", queueNames = "batch", key = "#payload.orderId")
    void batch(List<Order> orders) {
        orders.forEach(order -> effects.save(new Effect("batch", order)));
    }

    @ExactlyOnceListener(id = "fifo", queueNames = "fifo.fifo", key = "#order.orderId")
    void fifo(Order order) {
        effects.save(new Effect("fifo", order));
    }

    @ExactlyOnceListener(id = "database", queueNames = "database", key = "#order.orderId", effects = DATABASE)
    void database(Order order) {
        effects.save(new Effect("database", order));
    }

    @ExactlyOnceListener(id = "observed", queueNames = "observed", key = "#order.orderId", mode = ClaimMode.OBSERVE)
    void observed(Order order) {
        effects.save(new Effect("observed", order));
    }
}
