package smoke;

import jakarta.persistence.Entity;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import org.springframework.data.jpa.repository.JpaRepository;

/** The effect of a handler. The table has no unique key, so that a second effect of an order shows. */
@Entity
class Effect {

    @Id
    @GeneratedValue(strategy = GenerationType.IDENTITY)
    private Long id;

    private String listener;
    private String orderId;
    private String thread;

    Effect() {}

    Effect(String listener, Order order) {
        this.listener = listener;
        this.orderId = order.orderId();
        this.thread = Thread.currentThread().toString();
    }
}

interface Effects extends JpaRepository<Effect, Long> {}
