package io.exactlyonce.dynamodb.item;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * One conditional write of one item.
 *
 * @param pk the item's partition key
 * @param mark of this write: an item that has it was written by this, however often it was sent
 * @param isInsert whether the item must not be there; if not, it must be
 * @param set attributes and their new values
 * @param removed attributes that go
 * @param expected values that the item must have; none if it must not be there
 */
public record ItemWrite(
        String pk,
        String mark,
        boolean isInsert,
        Map<String, AttributeValue> set,
        List<String> removed,
        Map<String, AttributeValue> expected) {

    static Draft insert(String pk) {
        return new Draft(pk, true);
    }

    static Draft update(String pk) {
        return new Draft(pk, false);
    }

    /** Collects what a write does. */
    static final class Draft {

        private final String pk;
        private final boolean insert;
        private final String mark = Values.newMark();
        private final Map<String, AttributeValue> set = new LinkedHashMap<>();
        private final List<String> removed = new ArrayList<>();
        private final Map<String, AttributeValue> expected = new LinkedHashMap<>();

        private Draft(String pk, boolean insert) {
            this.pk = pk;
            this.insert = insert;
            set.put(Names.MARK, Values.text(mark));
        }

        Draft set(String attribute, String value) {
            return set(attribute, Values.text(value));
        }

        Draft set(String attribute, long value) {
            return set(attribute, Values.number(value));
        }

        Draft set(String attribute, boolean value) {
            return set(attribute, Values.flag(value));
        }

        private Draft set(String attribute, AttributeValue value) {
            set.put(attribute, value);
            return this;
        }

        Draft remove(String... attributes) {
            removed.addAll(List.of(attributes));
            return this;
        }

        Draft expect(String attribute, String value) {
            expected.put(attribute, Values.text(value));
            return this;
        }

        Draft expect(String attribute, long value) {
            expected.put(attribute, Values.number(value));
            return this;
        }

        ItemWrite build() {
            return new ItemWrite(pk, mark, insert, set, removed, expected);
        }
    }
}
