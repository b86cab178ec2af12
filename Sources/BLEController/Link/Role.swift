/// The role of one end of a connection.
enum Role: Int, Sendable {
    case central = 0, peripheral = 1

    static let both: [Self] = [.central, .peripheral]
    var other: Self { self == .central ? .peripheral : .central }
}
