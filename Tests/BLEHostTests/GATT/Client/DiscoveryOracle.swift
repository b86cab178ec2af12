import BLEHost
import BLEWire

/// The least number of round trips in which anyone can find the services, the characteristics of each, and the
/// descriptors of each characteristic of a database, and be sure that there are no others.
///
/// It is a bound for every client, even for one that guesses well: it counts the responses without which another
/// database would look the same. By the requests that GATT has for each of the three, these are:
///
/// - **Services** come by Read By Group Type. A response holds services that follow each other and whose types are as
///   long as each other, so each run of them takes its length divided by what fits, rounded up. That nothing follows
///   the last takes one more, unless its group ends with the last of all handles. (Only a search that begins behind the
///   last attribute but within its service would tell the same of other things, too; where that is, nothing has told
///   when services are asked for.)
/// - **Characteristics** come by Read By Type in the same way; where a service ends is known by then, so one request
///   may go through any number of services. No other request tells the properties of a characteristic, so none of these
///   can be saved. That nothing follows the last takes none: see the next.
/// - **Descriptors** come by Find Information. What has to be seen are the handles behind each value up to the end of
///   its characteristic, whether they are used or not. A response shows attributes that follow each other and whose
///   types are as long as each other, and it shows that between them there are none: neither descriptors nor
///   declarations, so nothing has to be asked to see that no characteristic follows. Whoever begins later sees as far
///   or further; so the least number is reached by beginning, each time, with the first handle not yet seen.
///
/// A client that is asked for characteristics first, and for descriptors only when it has answered, reaches the bound
/// if it looks for the descriptors ahead of the question whether a characteristic follows the last.
///
/// Core 6.0, Vol 3, Part F, 3.4.3.2, 3.4.4.2 and 3.4.4.10; Part G, 4.4.1, 4.6.1 and 4.7.1.
struct DiscoveryOracle {
    let layout: SampleLayout
    let mtu: Int

    var leastRoundTrips: Int { services + characteristics + descriptors }

    private var services: Int {
        let lengths = layout.services.map { $0.uuid.attributeForm.octets.count }
        let isOpen = layout.services.last.map { $0.range.end.wire < .max } ?? true
        return requests(forRunsOf: lengths) { (mtu - 2) / (4 + $0) } + (isOpen ? 1 : 0)
    }

    private var characteristics: Int {
        requests(forRunsOf: layout.characteristics.map { $0.isLong ? 16 : 2 }) { (mtu - 2) / (5 + $0) }
    }

    private func requests(forRunsOf lengths: [Int], room: (Int) -> Int) -> Int {
        var count = 0, index = 0
        while index < lengths.count {
            let run = lengths[index...].prefix { $0 == lengths[index] }.count
            let room = room(lengths[index])
            count += (run + room - 1) / room
            index += run
        }
        return count
    }

    /// How many requests show every handle that is behind a value and in its characteristic.
    private var descriptors: Int {
        var count = 0, seen = 0
        for characteristic in layout.characteristics where characteristic.value < characteristic.end {
            for handle in (characteristic.value + 1)...characteristic.end where Int(handle) > seen {
                count += 1
                seen = lastHandleSeen(from: handle)
            }
        }
        return count
    }

    /// The last handle that a response to a request from `start` on says something about.
    private func lastHandleSeen(from start: UInt16) -> Int {
        let rest = layout.types[(layout.types.firstIndex { $0.handle >= start } ?? layout.types.count)...]
        guard let first = rest.first else { return Int(UInt16.max) }
        let room = (mtu - 2) / (first.isLong ? 18 : 4)
        let seen = rest.prefix(room).prefix { $0.isLong == first.isLong }
        return seen.last.map { Int($0.handle) } ?? Int(start)
    }
}
