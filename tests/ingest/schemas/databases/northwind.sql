CREATE TABLE "Categories" ("CategoryID" INTEGER PRIMARY KEY AUTOINCREMENT, "CategoryName" TEXT, "Description" TEXT, "Picture" BLOB);
CREATE TABLE "Suppliers" ("SupplierID" INTEGER PRIMARY KEY AUTOINCREMENT, "CompanyName" TEXT NOT NULL, "City" TEXT);
CREATE TABLE "Products" ("ProductID" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "ProductName" TEXT NOT NULL, "SupplierID" INTEGER,
  "CategoryID" INTEGER, "UnitPrice" NUMERIC DEFAULT 0, "Discontinued" TEXT NOT NULL DEFAULT '0', CHECK ("UnitPrice" >= 0),
  FOREIGN KEY ("CategoryID") REFERENCES "Categories" ("CategoryID"), FOREIGN KEY ("SupplierID") REFERENCES "Suppliers" ("SupplierID"));
CREATE TABLE "Customers" ("CustomerID" TEXT, "CompanyName" TEXT, "ContactName" TEXT, PRIMARY KEY ("CustomerID"));
CREATE TABLE "Regions" ("RegionID" INTEGER NOT NULL PRIMARY KEY, "RegionDescription" TEXT NOT NULL);
CREATE TABLE "Territories" ("TerritoryID" TEXT NOT NULL, "TerritoryDescription" TEXT NOT NULL, "RegionID" INTEGER NOT NULL,
  PRIMARY KEY ("TerritoryID"), FOREIGN KEY ("RegionID") REFERENCES "Regions" ("RegionID"));
CREATE TABLE "Employees" ("EmployeeID" INTEGER PRIMARY KEY AUTOINCREMENT, "LastName" TEXT, "FirstName" TEXT, "Photo" BLOB,
  "ReportsTo" INTEGER, FOREIGN KEY ("ReportsTo") REFERENCES "Employees" ("EmployeeID"));
CREATE TABLE "EmployeeTerritories" ("EmployeeID" INTEGER NOT NULL, "TerritoryID" TEXT NOT NULL, PRIMARY KEY ("EmployeeID", "TerritoryID"),
  FOREIGN KEY ("EmployeeID") REFERENCES "Employees" ("EmployeeID"), FOREIGN KEY ("TerritoryID") REFERENCES "Territories" ("TerritoryID"));
CREATE TABLE "Orders" ("OrderID" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, "CustomerID" TEXT, "EmployeeID" INTEGER, "OrderDate" DATETIME,
  FOREIGN KEY ("CustomerID") REFERENCES "Customers" ("CustomerID"), FOREIGN KEY ("EmployeeID") REFERENCES "Employees" ("EmployeeID"));
CREATE TABLE "Order Details" ("OrderID" INTEGER NOT NULL, "ProductID" INTEGER NOT NULL, "UnitPrice" NUMERIC NOT NULL DEFAULT 0,
  "Quantity" INTEGER NOT NULL DEFAULT 1, "Discount" REAL NOT NULL DEFAULT 0, PRIMARY KEY ("OrderID", "ProductID"),
  FOREIGN KEY ("OrderID") REFERENCES "Orders" ("OrderID"), FOREIGN KEY ("ProductID") REFERENCES "Products" ("ProductID"));
CREATE VIEW "Alphabetical list of products" AS SELECT "Products".*, "Categories"."CategoryName" FROM "Categories"
  INNER JOIN "Products" ON "Categories"."CategoryID" = "Products"."CategoryID";
INSERT INTO "Categories" VALUES (1, 'Teas', 'Leaves and flowers', x'151C2F00'), (2, 'Cheeses', 'Of goats, mostly', NULL);
INSERT INTO "Suppliers" VALUES (1, 'Fjord Foods', 'Bergen'), (2, 'Hilltop & Sons', 'Bath');
INSERT INTO "Products" VALUES (1, 'Nettle tea', 1, 1, 18, '0'), (2, 'Brown cheese', 1, 2, 19.5, '1'), (3, 'Heather tea', 2, 1, 10, '0');
INSERT INTO "Customers" VALUES ('GULLS', 'Gull''s Rest', 'Mia Orr'), ('PINES', 'Pines Hotel', 'Nils Aho');
INSERT INTO "Regions" VALUES (1, 'North'), (2, 'South');
INSERT INTO "Territories" VALUES ('01581', 'Westbay', 1), ('02116', 'Moor', 2);
INSERT INTO "Employees" VALUES (1, 'Lund', 'Oda', x'FFD8', NULL), (2, 'Berg', 'Per', NULL, 1);
INSERT INTO "EmployeeTerritories" VALUES (1, '01581'), (2, '01581'), (2, '02116');
INSERT INTO "Orders" VALUES (10248, 'GULLS', 2, '2016-07-04'), (10249, 'PINES', 1, '2016-07-05');
INSERT INTO "Order Details" VALUES (10248, 1, 14, 12, 0), (10248, 2, 9.8, 10, 0.1), (10249, 3, 18.6, 9, 0);
