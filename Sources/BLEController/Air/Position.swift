/// The position of a controller, in metres.
package struct Position: Hashable, Sendable {
    package var x: Double
    package var y: Double
    package var z: Double

    package init(x: Double = 0, y: Double = 0, z: Double = 0) {
        self.x = x
        self.y = y
        self.z = z
    }

    /// Returns the distance to `other`, in metres.
    package func distance(to other: Self) -> Double {
        let (dx, dy, dz) = (x - other.x, y - other.y, z - other.z)
        return (dx * dx + dy * dy + dz * dz).squareRoot()
    }
}
